"""Likelihoods that are made of several: every part is a request of its own, stored and shared like any other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from inference.inferencers.base import Keep, Stored
from leaderflow.core.types import Answer, Backend, Request

Join = Callable[[str, Sequence[Answer]], Answer]
"""The whole's key and the good answers to its parts, in order → the whole's answer."""


def in_parts(parts: Mapping[str, Sequence[Request]], backend: Backend, stored: Stored, keep: Keep, join: Join) -> Iterator[Answer]:
    """Yield the answer to each whole when the last of its parts is answered; a part without an answer leaves it without one.

    Args:
        parts: the whole's key → its parts.
        backend: asked for the parts that are not stored.
        stored: looks parts up that were asked before.
        keep: stores a part.
        join: makes the whole's answer.
    """
    requests = {part.request_key: part for own in parts.values() for part in own}
    known = dict(stored(list(requests)))
    missing = [request for key, request in requests.items() if key not in known]
    waiting = {key: {part.request_key for part in own} - known.keys() for key, own in parts.items()}
    yield from (_joined(key, parts[key], known, join) for key, left in waiting.items() if not left)
    owners: dict[str, list[str]] = {}
    for key, left in waiting.items():
        for part in left:
            owners.setdefault(part, []).append(key)
    for answer in backend.loglikelihood(missing) if missing else ():
        keep(answer)
        known[answer.request_key] = answer
        for key in owners.get(answer.request_key, ()):
            waiting[key].discard(answer.request_key)
            if not waiting[key]:
                yield _joined(key, parts[key], known, join)


def _joined(key: str, parts: Sequence[Request], known: Mapping[str, Answer], join: Join) -> Answer:
    answers = [known[part.request_key] for part in parts]
    bad = next((answer for answer in answers if answer.status != "ok"), None)
    return join(key, answers) if bad is None else replace(bad, request_key=key)
