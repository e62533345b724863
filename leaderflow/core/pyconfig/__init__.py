"""Configurations written in Python: run a file with its imports of OpenCompass replaced by references, and say what it defines."""

from leaderflow.core.pyconfig.loader import Config, load_config, opencompass_root
from leaderflow.core.pyconfig.values import Block, is_reference, reference

__all__ = ["Block", "Config", "is_reference", "load_config", "opencompass_root", "reference"]
