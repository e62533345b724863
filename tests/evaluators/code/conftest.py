from __future__ import annotations

from tests.fake_openai import _fake_openai_server, fake_openai
from tests.sandboxes import no_sandbox

__all__ = ["_fake_openai_server", "fake_openai", "no_sandbox"]
