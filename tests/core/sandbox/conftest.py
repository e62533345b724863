from __future__ import annotations

from tests.sandboxes import no_sandbox

__all__ = ["no_sandbox"]
