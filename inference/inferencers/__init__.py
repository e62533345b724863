"""Inferencers: how rendered model inputs become requests."""
