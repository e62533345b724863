"""Cut the corpus of answers into an open and a sealed half, by id alone."""

import hashlib
from typing import Literal


def half(id: str) -> Literal["open", "sealed"]:
    """Return the half an answer belongs to; the same on every machine and for every order of the file."""
    return "open" if hashlib.sha256(f"leaderflow corpus:{id}".encode()).digest()[0] % 2 == 0 else "sealed"
