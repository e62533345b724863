"""May model code be executed here, and in which box?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from leaderflow.core.errors import UsageError
from leaderflow.core.sandbox import boxes
from leaderflow.core.sandbox.languages import toolchain

_ALLOWED: ContextVar[bool] = ContextVar("allow_unsafe_code", default=False)


@contextmanager
def unsafe_code(allowed: bool) -> Iterator[None]:
    """Within this block, and this thread, run programs without a sandbox where there is none, if `allowed`."""
    token = _ALLOWED.set(allowed)
    try:
        yield
    finally:
        _ALLOWED.reset(token)


def require(languages: Iterable[str]) -> boxes.Box:
    """Return the box that programs run in.

    Raises:
        UsageError: there is no sandbox and the user has not allowed to do without, or a language's compiler is absent.
    """
    box = boxes.best() or (boxes.Bare() if _ALLOWED.get() else None)
    if box is None:
        raise UsageError(
            "scoring executes programs that a model wrote, and this machine has no working sandbox: install bubblewrap "
            f"(apt install bubblewrap) or start Docker (with the image {boxes.IMAGE}); "
            "--allow-unsafe-code runs them with all your rights"
        )
    for language in languages:
        missing = [program for program in toolchain(language).needs if not box.has(program)]
        if missing:
            raise UsageError(f"programs in {language} need {missing[0]}, which is not installed ({box.name}); install it")
    return box
