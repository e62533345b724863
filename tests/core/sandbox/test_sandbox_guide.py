"""Every snippet of docs/sandbox.md works, and its tables are true."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from leaderflow.core.registry import known, resolve
from leaderflow.core.sandbox import Limits
from leaderflow.core.sandbox.languages import TOOLCHAINS

GUIDE = (Path(__file__).parents[3] / "docs" / "sandbox.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_snippets_run(snippet: str) -> None:
    exec(compile(snippet, "docs/sandbox.md", "exec"), {})


def test_every_limit_and_language_is_named() -> None:
    assert SNIPPETS
    for field in fields(Limits):
        assert f"`{field.name}`" in GUIDE
    for language in TOOLCHAINS:
        assert f"`{language}`" in GUIDE


def test_every_evaluator_that_executes_code_is_named() -> None:
    executing = [name for name in known("evaluator") if resolve("evaluator", name).__module__.startswith("evaluators.code.")]
    assert executing
    for name in executing:
        assert f"`{name}`" in GUIDE
