"""Whole runs of the code recipes: scripted answers by known shares give the numbers of the closed forms."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from flows.api import evaluate
from flows.result import RunResult
from leaderflow.core.errors import SpecError
from leaderflow.core.load import build_evaluation
from leaderflow.core.statistics import pass_at_k
from leaderflow.core.store import Store
from tests.fake_openai import FakeOpenAI
from tests.flows.support import model
from tests.golden import data_dir

Row = dict[str, Any]

SHARES = {"right": 10, "wrong": 6, "truncated": 4, "empty": 3, "error": 2}
"""How many of 25 samples get which answer."""


def sum_row(i: int) -> Row:
    prompt = f'def plus_{i}(x: int) -> int:\n    """Return x plus {i}."""\n'
    test = f"def check(f):\n    assert f(1) == {1 + i}\n    assert f(-{i}) == 0\n"
    return {
        "task_id": f"own/{i}",
        "prompt": prompt,
        "entry_point": f"plus_{i}",
        "canonical_solution": f"    return x + {i}\n",
        "test": test,
    }


def task_row(i: int) -> Row:
    return {
        "task_id": 11 + i,
        "text": f"Write a function that multiplies a number by {i}.",
        "code": f"def times_{i}(x):\n    return x * {i}",
        "test_setup_code": "",
        "test_list": [f"assert times_{i}(1) == {i}", f"assert times_{i}(2) == {2 * i}"],
    }


def case_row(i: int) -> Row:
    cases = {"inputs": [f"{i}\n", "0\n"], "outputs": [f"{2 * i + 7}\n", "7\n"]}
    question = f"Print twice the number that is read, plus 7 (variant {i})."
    return {"problem_id": i, "question": question, "starter_code": "", "input_output": json.dumps(cases)}


def problem_row(i: int) -> Row:
    """TACO's row: no id, most columns text; every third is a function to be completed."""
    named = {"fn_name": "twice", "inputs": [[i], [0]], "outputs": [[2 * i + 7], [7]]}
    cases = {"inputs": [f"{i}\n", "0\n"], "outputs": [f"{2 * i + 7}\n", "7\n"]}
    return {
        "question": f"Give twice the number, plus 7 (variant {i}).",
        "solutions": "[]",
        "starter_code": "def twice(n):\n    " if i % 3 == 0 else "",
        "input_output": json.dumps(named if i % 3 == 0 else cases),
        "difficulty": "EASY",
        "time_limit": "2.0 seconds" if i % 2 else None,
    }


def problem_answer(row: Row) -> str:
    return fenced("def twice(n):\n    return 2 * n + 7") if row["starter_code"] else program_answer(row)


def fenced(code: str) -> str:
    return f"Sure:\n\n```python\n{code}\n```\n"


def humaneval_answer(row: Row) -> str:
    return fenced(row["prompt"] + row["canonical_solution"])


def program_answer(row: Row) -> str:
    return fenced("print(int(input()) * 2 + 7)")


# recipe → (file, own row, part of the prompt, right answer, wrong answer)
Recipe = tuple[str, Callable[[int], Row], Callable[[Row], str], Callable[[Row], str], Callable[[Row], str]]
RECIPES: dict[str, Recipe] = {
    "humaneval": (
        "HumanEval/HumanEval.jsonl",
        sum_row,
        lambda row: row["prompt"].strip(),
        humaneval_answer,
        lambda row: fenced(f"def {row['entry_point']}(*args):\n    return 'wrong'"),
    ),
    "mbpp": (
        "MBPP/mbpp.jsonl",
        task_row,
        lambda row: row["test_list"][0],
        lambda row: fenced(row["code"]),
        lambda row: fenced("import sys\nsys.exit(0)\n" + row["code"]),
    ),
    "apps": ("APPS/test.jsonl", case_row, lambda row: row["question"], program_answer, lambda row: fenced("print(7)")),
    "taco": ("TACO/test.jsonl", problem_row, lambda row: row["question"], problem_answer, lambda row: fenced("print(7)")),
}


def rules(rows: Sequence[Row], recipe: Recipe) -> list[dict[str, Any]]:
    """The scripted answer of each row, the kinds by their shares."""
    _, _, part, right, wrong = recipe
    kinds = [kind for kind, share in SHARES.items() for _ in range(share)]
    replies = {
        "right": lambda row: {"content": right(row)},
        "wrong": lambda row: {"content": wrong(row)},
        "truncated": lambda row: "length",
        "empty": lambda row: "empty",
        "error": lambda row: "server_error",
    }
    return [{"contains": part(row), "replies": [replies[kinds[i % 25]](row)]} for i, row in enumerate(rows)]


def run(server: FakeOpenAI, recipe: str, folder: Path, *settings: str, **scalars: Any) -> RunResult:
    models = [model(server, retries=0)]
    return evaluate(build_evaluation(models, [recipe], settings, data_dir=folder, offline=True, **scalars), server=False)


def check_shares(result: RunResult, n: int) -> None:
    cell = result.cells[0]
    times = n // 25
    counted = (cell.n, cell.n_scored, cell.n_failed, cell.n_truncated, cell.n_unparsed)
    assert counted == (n, 23 * times, 2 * times, 4 * times, 7 * times)
    assert cell.metric == "pass@1"
    assert cell.value == pytest.approx(100 * 10 / 23)
    assert cell.ci_low is not None
    assert cell.ci_high is not None
    assert cell.ci_low < cell.value < cell.ci_high
    assert result.exit_code == 3


@pytest.mark.parametrize("recipe", RECIPES)
def test_known_shares_give_the_closed_form(fake_openai: FakeOpenAI, tmp_path: Path, recipe: str) -> None:
    file, row, *_ = RECIPES[recipe]
    rows = [row(i) for i in range(1, 26)]
    (tmp_path / "data" / file).parent.mkdir(parents=True)
    (tmp_path / "data" / file).write_text("".join(json.dumps(row) + "\n" for row in rows))
    fake_openai.script(rules=rules(rows, RECIPES[recipe]))
    check_shares(run(fake_openai, recipe, tmp_path / "data"), 25)


@pytest.mark.golden
@pytest.mark.parametrize("recipe", ["humaneval", "mbpp"])
def test_known_shares_of_the_real_data(fake_openai: FakeOpenAI, recipe: str) -> None:
    folder = data_dir()
    lines = (folder / RECIPES[recipe][0]).read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if recipe == "humaneval" or 11 <= row["task_id"] <= 510][:50]
    fake_openai.script(rules=rules(rows, RECIPES[recipe]))
    check_shares(run(fake_openai, recipe, folder, "reader_cfg.test_range=[:50]"), 50)


def test_pass_at_k_over_repeats(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    rows = [sum_row(i) for i in range(1, 5)]
    (tmp_path / "HumanEval").mkdir()
    (tmp_path / "HumanEval" / "HumanEval.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    right, wrong = ({"content": RECIPES["humaneval"][i](rows[0])} for i in (3, 4))
    replies = [[right, wrong, wrong], [right, right, wrong], [wrong, wrong, wrong], [right, right, right]]
    scripted = [
        {
            "contains": row["prompt"].strip(),
            "replies": [{"content": r["content"].replace("plus_1", row["entry_point"])} for r in given],
        }
        for row, given in zip(rows, replies, strict=True)
    ]
    for rule, i in zip(scripted, range(1, 5), strict=True):
        for reply in rule["replies"]:
            reply["content"] = reply["content"].replace("x + 1", f"x + {i}")
    fake_openai.script(rules=scripted)
    run(fake_openai, "humaneval", tmp_path, "n=3", "k=[1, 2]")
    metrics = metrics_of_last_run()
    for k in (1, 2):
        assert metrics[f"pass@{k}"] == pytest.approx(25 * sum(pass_at_k(3, c, k) for c in (1, 2, 0, 3)))
    assert metrics["avg@3"] == pytest.approx(100 * 6 / 12)


def metrics_of_last_run() -> dict[str, float]:
    from leaderflow.core.manifest import Manifest
    from leaderflow.core.paths import store_uri

    store = Store(store_uri())
    (path,) = (store.files.root / "runs").glob("*/manifest.json")
    (cell,) = Manifest.model_validate_json(path.read_text()).cells.values()
    return {row["metric"]: row["value"] for row in store.read(cell.tables["metrics"][0]).to_pylist()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "HumanEval").mkdir()
    (tmp_path / "HumanEval" / "HumanEval.jsonl").write_text(json.dumps(sum_row(3)) + "\n")
    return tmp_path


@pytest.mark.usefixtures("no_sandbox")
def test_without_a_sandbox_nothing_is_asked(fake_openai: FakeOpenAI, folder: Path) -> None:
    with pytest.raises(SpecError, match=r"humaneval.eval_cfg.evaluator: .*install bubblewrap .*--allow-unsafe-code"):
        run(fake_openai, "humaneval", folder)
    assert fake_openai.stats["requests"] == 0
    assert not (folder / "store").exists()


@pytest.mark.usefixtures("no_sandbox")
def test_allowed_by_the_user_code_runs_without_a_sandbox(fake_openai: FakeOpenAI, folder: Path) -> None:
    fake_openai.script(reply=humaneval_answer(sum_row(3)))
    (cell,) = run(fake_openai, "humaneval", folder, allow_unsafe_code=True).cells
    assert cell.value == 100.0


def test_a_language_that_is_not_known_is_refused_at_once(fake_openai: FakeOpenAI, folder: Path) -> None:
    (folder / "HumanEval-X").mkdir()
    (folder / "HumanEval-X" / "humanevalx_js.jsonl").write_text("")
    with pytest.raises(SpecError, match="cobol"):
        run(fake_openai, "humaneval_x", folder, "eval_cfg.evaluator.language=cobol")
    assert fake_openai.stats["requests"] == 0
