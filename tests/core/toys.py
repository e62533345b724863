"""Types that specs of the tests name by ``package.module:Name``."""

from __future__ import annotations

from typing import Any


class Rows:
    def __init__(self, path: str | None = None, task: str = "all", depth: int = 0) -> None:
        self.task = task


class Template:
    def __init__(self, messages: list[Any]) -> None:
        self.messages = messages


class Gen:
    def __init__(self, max_out_len: int | None = None, stopping_criteria: tuple[str, ...] = ()) -> None:
        self.max_out_len = max_out_len


class Api:
    def __init__(self, spec: Any, extra_body: dict[str, Any] | None = None) -> None:
        self.spec = spec


def first_letter(text: str, letters: str = "ABCD") -> str | None:
    return next((c for c in text if c in letters), None)


class Exact:
    def __init__(self, ignore_case: bool = False) -> None:
        self.ignore_case = ignore_case
