"""The packages of the extra `hf`."""

from __future__ import annotations

import importlib.util

from leaderflow.core.errors import BackendError

NEEDED = ("torch", "transformers")


def require(*packages: str) -> None:
    """Raise one clean line where a package of the extra ``hf`` is absent; imports nothing.

    Raises:
        BackendError: names the package and the install command.
    """
    missing = [name for name in packages or NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise BackendError(f"this model needs {' and '.join(missing)}; install the extra: pip install 'leaderflow[hf]'")
