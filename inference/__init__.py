"""Backends, inferencers and the answers store."""
