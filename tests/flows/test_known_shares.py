"""Real data end to end, the answers scripted by known shares: scores, denominators and intervals equal the closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

import pytest
from scipy import stats

from flows.api import evaluate
from flows.result import CellResult, RunResult
from leaderflow.core.artifacts import rows_of
from leaderflow.core.load import load_dataset
from leaderflow.core.specs import DatasetSpec, EvaluationSpec, ModelSpec
from leaderflow.core.types import Row
from readers.stage import Source, absent_files, read
from tests.fake_openai import FakeOpenAI
from tests.flows.support import model
from tests.golden import data_dir

KINDS = ["right"] * 5 + ["wrong"] * 2 + ["truncated", "empty", "error"]
"""What becomes of ten samples in a row."""

CUT = "zzq zzq\nzzq zzq"
"""What a truncated answer begins with: no extractor finds an answer in it, and no reference has a word of it."""


def another(row: Row) -> str:
    return "A" if row["answer"] != "A" else "B"


@dataclass(frozen=True)
class Case:
    """One recipe: what a right and a wrong answer are, and whether something is extracted from a truncated one."""

    right: Callable[[Row], str]
    wrong: Callable[[Row], str]
    finds_in_cut: bool = False
    binary: bool = True
    cut: str = CUT
    keep: Callable[[Row], bool] = lambda row: True


CASES = {
    "gsm8k": Case(lambda row: f"So\n####{row['answer'].split('####')[1]}", lambda row: "#### 987654321"),
    "math500": Case(lambda row: rf"Thus \boxed{{{row['answer']}}}.", lambda row: r"\boxed{987654321}"),
    "mmlu_gen": Case(lambda row: f"Answer: {row['answer']}", lambda row: f"Answer: {another(row)}"),
    "bbh_choice": Case(lambda row: f"Answer: ({row['answer']})", lambda row: f"Answer: ({another(row)})"),
    "bbh_free": Case(lambda row: f"not ( True ) is False.\n**Answer:** {row['answer'].lower()}", lambda row: "Answer: maybe"),
    "cmmlu": Case(lambda row: f"答案：{row['answer']}", lambda row: f"答案：{another(row)}"),
    "nq_open": Case(lambda row: f"Answer: {row['answer'][-1]}", lambda row: "Answer: zzq", cut="zzq", finds_in_cut=True),
    "lambada": Case(lambda row: f"{row['word']}.", lambda row: "zzq", finds_in_cut=True),
    "ifeval": Case(
        lambda row: "plain words", lambda row: "one, two", finds_in_cut=True, cut="three, four",
        keep=lambda row: row["instructions"]["instruction_id_list"] == ["punctuation:no_comma"],
    ),
    "xsum": Case(lambda row: row["summary"], lambda row: "qqz", finds_in_cut=True, binary=False),
}  # fmt: skip


def ask(
    server: FakeOpenAI, recipe: str, case: Case, rules: Sequence[dict[str, Any]] = (), most: int = 40
) -> tuple[RunResult, dict[str, int]]:
    """Run a recipe's first member on some samples; returns how many of each kind there were."""
    spec = load_dataset(recipe, data_dir=data_dir())[0]
    if absent_files(spec, Source(data_dir())):
        pytest.skip(f"the files of {recipe} are not below {data_dir()}")
    whole, _ = read(spec, Source(data_dir(), offline=True), pool=False)
    rows = [row for _, row in rows_of(whole)]
    positions = [i for i, row in enumerate(rows) if case.keep(row)][:most]
    positions = positions[: len(positions) // 10 * 10]
    assert positions, "ten samples are needed at least"
    kinds = {position: KINDS[number % 10] for number, position in enumerate(positions)}
    replies = [_rule(spec, rows[i], kind, case) for i, kind in kinds.items()]
    server.script(reply="no rule fits", rules=[*rules, *replies])
    ranged = spec.reader_cfg.model_copy(update={"test_range": positions})
    judge = [model(server, abbr="judge", path="judge")] if rules else []
    blocks = [ModelSpec.model_validate(block) for block in (model(server, retries=0), *judge)]
    evaluation = EvaluationSpec(
        models=blocks[:1],
        judges=blocks[1:],
        datasets=[spec.model_copy(update={"reader_cfg": ranged})],
        data_dir=str(data_dir()),
        offline=True,
    )
    return evaluate(evaluation, server=False), {kind: list(kinds.values()).count(kind) for kind in KINDS}


def _rule(spec: DatasetSpec, row: Row, kind: str, case: Case) -> dict[str, Any]:
    """The reply to the prompt that shows this row's first input column."""
    message = {"role": "assistant", "content": case.cut}
    cut = {"json": {"choices": [{"index": 0, "message": message, "finish_reason": "length"}]}}
    texts = {"right": {"content": case.right(row)}, "wrong": {"content": case.wrong(row)}}
    reply: Any = {**texts, "truncated": cut, "empty": "empty", "error": "server_error"}[kind]
    shown = row[spec.reader_cfg.input_columns[0]]
    text = shown[-1]["content"] if isinstance(shown, list) else str(shown)
    return {"model": "fake", "contains": text, "replies": [reply]}


def check_counts(cell: CellResult, counts: dict[str, int], unparsed: int) -> int:
    """Compare all denominators with the known counts; returns n_scored."""
    n = sum(counts.values())
    assert (cell.n, cell.n_scored, cell.n_failed) == (n, n - counts["error"], counts["error"])
    assert (cell.n_truncated, cell.n_unparsed) == (counts["truncated"], unparsed)
    assert (cell.n_filtered, cell.n_rejected, cell.partial) == (0, 0, True)
    return n - counts["error"]


def check_mean(cell: CellResult, values: Sequence[float], *, binary: bool) -> None:
    """Compare value, error and interval (all of 100) with the closed forms of values in 0–1."""
    n, mean = len(values), fmean(values)
    assert cell.value == pytest.approx(100 * mean)
    error = stdev(values) / math.sqrt(n)
    assert cell.stderr == pytest.approx(100 * error)
    if binary:
        interval = stats.binomtest(round(sum(values)), n).proportion_ci(method="wilson")
        low, high = interval.low, interval.high
    else:
        half = stats.norm.isf(0.025) * error
        low, high = max(0.0, mean - half), min(1.0, mean + half)
    assert (cell.ci_low, cell.ci_high) == pytest.approx((100 * low, 100 * high))


@pytest.mark.parametrize("recipe", CASES)
def test_scores_equal_the_closed_forms(server: FakeOpenAI, recipe: str) -> None:
    case = CASES[recipe]
    result, counts = ask(server, recipe, case)
    assert result.exit_code == 3
    unparsed = counts["empty"] + (0 if case.finds_in_cut else counts["truncated"])
    scored = check_counts(result.cells[0], counts, unparsed)
    check_mean(result.cells[0], [1.0] * counts["right"] + [0.0] * (scored - counts["right"]), binary=case.binary)


OPEN = Case(lambda row: "rrq says it", lambda row: "wwq says it", finds_in_cut=True)


def says(part: str, reply: str) -> dict[str, Any]:
    return {"model": "judge", "contains": part, "replies": [{"content": reply}]}


def test_a_judge_of_facts(server: FakeOpenAI) -> None:
    rules = [says("rrq", "结论：CORRECT"), says("wwq", "VERDICT: INCORRECT"), says("", "VERDICT: NOT_ATTEMPTED")]
    result, counts = ask(server, "chinese_simpleqa", OPEN, rules)
    scored = check_counts(result.cells[0], counts, counts["empty"])
    check_mean(result.cells[0], [1.0] * counts["right"] + [0.0] * (scored - counts["right"]), binary=True)
    found = {cell.metric: cell.value for cell in result.cells}
    attempted = counts["right"] + counts["wrong"]
    assert found["accuracy_given_attempted"] == pytest.approx(100 * counts["right"] / attempted)
    assert found["attempted"] == pytest.approx(100 * attempted / scored)


def test_a_judge_that_rates(server: FakeOpenAI) -> None:
    result, counts = ask(server, "alignbench", OPEN, [says("rrq", "评分：8"), says("", "评分：2")])
    scored = check_counts(result.cells[0], counts, counts["empty"])
    low = counts["wrong"] + counts["truncated"]
    points = [8.0] * counts["right"] + [2.0] * low + [0.0] * (scored - counts["right"] - low)
    cell = result.cells[0]
    assert (cell.value, cell.scale) == (pytest.approx(fmean(points)), 10.0)
    assert cell.stderr == pytest.approx(stdev(points) / math.sqrt(scored))


def test_a_judge_of_pairs_that_always_takes_the_first(server: FakeOpenAI) -> None:
    result, counts = ask(server, "alpaca_eval", OPEN, [says("", "VERDICT: A")])
    scored = check_counts(result.cells[0], counts, counts["empty"])
    asked = scored - counts["empty"]
    check_mean(result.cells[0], [0.5] * asked + [0.0] * counts["empty"], binary=False)
    found = {cell.metric: cell.value for cell in result.cells}
    assert (found["first_place"], found["consistent"]) == (100.0, 0.0)


def test_a_judge_of_pairs_that_sees_no_difference(server: FakeOpenAI) -> None:
    result, counts = ask(server, "alpaca_eval", OPEN, [says("", "VERDICT: TIE")])
    found = {cell.metric: cell.value for cell in result.cells}
    assert found["consistent"] == 100.0
    assert "first_place" not in found
    asked = sum(counts.values()) - counts["error"] - counts["empty"]
    assert found["win_rate"] == pytest.approx(50 * asked / (asked + counts["empty"]))


def test_a_judge_of_criteria(server: FakeOpenAI) -> None:
    """Right answers meet every criterion, faults included; the others none."""
    shares: list[float] = []

    def right(row: Row) -> str:
        points = [entry["points"] for entry in row["rubrics"]]
        shares.append(sum(points) / sum(p for p in points if p > 0))
        return OPEN.right(row)

    case = Case(right, OPEN.wrong, finds_in_cut=True)
    result, counts = ask(server, "healthbench", case, [says("rrq", "VERDICT: MET"), says("", "VERDICT: NOT MET")], most=10)
    scored = check_counts(result.cells[0], counts, counts["empty"])
    of_right = [share for share, kind in zip(shares, KINDS, strict=True) if kind == "right"]
    assert result.cells[0].value == pytest.approx(100 * min(1.0, max(0.0, sum(of_right) / scored)))
