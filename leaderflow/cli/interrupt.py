"""Ctrl-C: once, what is in flight is finished and stored; twice, the process ends at once. The store is whole either way."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING

from leaderflow.cli.console import err, say

if TYPE_CHECKING:
    from flows.run import Evaluation

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""

LAST_WORDS_SECONDS = 5
"""How long noting the end may take: somebody waits who has pressed Ctrl-C twice."""


@contextlib.contextmanager
def interruptible(evaluation: Evaluation) -> Iterator[None]:
    """While the block runs, Ctrl-C halts the evaluation; once more, it ends the process."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread hears signals
        yield
        return
    halted = threading.Event()

    def interrupt(number: int, frame: FrameType | None) -> None:
        if halted.is_set():
            _end(evaluation)
        halted.set()
        # In a thread of its own, for the one that is interrupted may hold a lock that halting needs.
        threading.Thread(target=_halt, args=[evaluation], daemon=True).start()

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _halt(evaluation: Evaluation) -> None:
    evaluation.halt("interrupted")
    evaluation.progress.line("Ctrl-C again stops at once")


def _end(evaluation: Evaluation) -> None:
    """End the process without waiting for threads: answers are on the disk, and what was started ends with us."""
    note = threading.Thread(target=evaluation.abandon, daemon=True)
    note.start()
    note.join(LAST_WORDS_SECONDS)
    err().show_cursor(True)
    say("stopped; the same command goes on where it was")
    os._exit(INTERRUPTED)
