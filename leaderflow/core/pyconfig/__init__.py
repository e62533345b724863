"""Configurations written in Python: run a file with its imports of OpenCompass replaced by references, and say what it defines."""

from leaderflow.core.pyconfig.loader import Config, Loader, is_local, load_config
from leaderflow.core.pyconfig.values import Block, Names, ReferenceType, is_reference, reference

__all__ = ["Block", "Config", "Loader", "Names", "ReferenceType", "is_local", "is_reference", "load_config", "reference"]
