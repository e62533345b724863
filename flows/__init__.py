"""Prefect flows, and the one driver that walks a plan."""
