"""``leaderflow import-predictions``: old results are scored, shown and re-scored without a single request."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

CONFIG = """\
datasets=[
    dict(abbr='sums',
        eval_cfg=dict(evaluator=dict(type='opencompass.openicl.icl_evaluator.AccEvaluator'),
            pred_postprocessor=dict(type='opencompass.utils.text_postprocessors.first_capital_postprocess')),
        infer_cfg=dict(
            inferencer=dict(max_out_len=32, type='opencompass.openicl.icl_inferencer.GenInferencer'),
            prompt_template=dict(template='Q: {question}\\nA:', type='opencompass.openicl.icl_prompt_template.PromptTemplate'),
            retriever=dict(type='opencompass.openicl.icl_retriever.ZeroRetriever')),
        n=2, k=[1, 2],
        path='../rows.jsonl',
        reader_cfg=dict(input_columns=['question'], output_column='answer'),
        type='opencompass.datasets.JsonlDataset'),
    dict(abbr='choice',
        eval_cfg=dict(evaluator=dict(type='opencompass.openicl.icl_evaluator.AccEvaluator')),
        infer_cfg=dict(
            inferencer=dict(type='opencompass.openicl.icl_inferencer.PPLInferencer'),
            prompt_template=dict(template=dict(A='{question} A', B='{question} B', C='{question} C'),
                type='opencompass.openicl.icl_prompt_template.PromptTemplate'),
            retriever=dict(type='opencompass.openicl.icl_retriever.ZeroRetriever')),
        path='../rows.jsonl',
        reader_cfg=dict(input_columns=['question'], output_column='answer'),
        type='opencompass.datasets.JsonlDataset'),
]
models=[
    dict(abbr='old', path='org/old', type='opencompass.models.HuggingFaceBaseModel', run_cfg=dict(num_gpus=1), max_out_len=32),
    dict(abbr='silent', path='org/silent', type='opencompass.models.HuggingFaceBaseModel'),
]
work_dir='outputs/default/20240101_000000'
"""
GOLDS = ["A", "B", "C"]


@pytest.fixture
def work_dir(folder: Path) -> Path:
    """A run of three rows: six generations in two parts, and likelihoods."""
    root = folder / "outputs" / "20240101_000000"
    (root / "configs").mkdir(parents=True)
    (root / "configs" / "20240101_000000_1.py").write_text(CONFIG)
    (root / "rows.jsonl").write_text("".join(json.dumps({"question": f"Which {g}?", "answer": g}) + "\n" for g in GOLDS))
    said = ["A", "B", "A", "A", "C", "C"]
    rows = [
        {"origin_prompt": f"Q: Which {GOLDS[i % 3]}?\nA:", "prediction": f"the answer: {s}", "gold": GOLDS[i % 3]}
        for i, s in enumerate(said)
    ]
    for part, chunk in enumerate((rows[:4], rows[4:])):
        write(root, f"sums_{part}", chunk)
    losses = [(1.0, 2.0, 3.0), (2.0, 1.5, 3.0), (0.5, 2.0, 3.0)]
    write(root, "choice", [likelihood(*loss, gold=gold) for loss, gold in zip(losses, GOLDS, strict=True)])
    return root


def write(root: Path, name: str, rows: list[dict[str, object]]) -> None:
    path = root / "predictions" / "old" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({str(i): row for i, row in enumerate(rows)}))


def likelihood(*losses: float, gold: str) -> dict[str, object]:
    labels = {
        f"label: {label}": {"testing input": "", "prompt": "", "PPL": loss} for label, loss in zip("ABC", losses, strict=True)
    }
    return {**labels, "prediction": "ABC"[losses.index(min(losses))], "gold": gold}


def test_predictions_become_a_scored_run(cli: Cli, work_dir: Path) -> None:
    ran = cli("import-predictions", "outputs", "--json")
    assert ran.code == 0, ran.err
    (run,) = ran.json["runs"]
    values = {cell["dataset"]: cell["value"] for cell in reversed(run["cells"]) if cell["model"] == "old"}
    assert values["sums"] == pytest.approx(100 * 4 / 6)
    assert values["choice"] == pytest.approx(100 * 2 / 3)
    assert "silent has no predictions for sums" in ran.err
    shown = cli("show", run["run"], "old:sums", "--json")
    assert shown.code == 0, shown.err
    again = cli("import-predictions", str(work_dir), "--json", "--set", "eval_cfg.pred_postprocessor.type=last-capital")
    assert again.code == 0, again.err
    assert again.json["runs"][0]["requests"]["sent"] == 0


def test_golds_that_are_other_rows_are_refused(cli: Cli, work_dir: Path) -> None:
    (work_dir / "rows.jsonl").write_text("".join(json.dumps({"question": "?", "answer": g}) + "\n" for g in "ACB"))
    ran = cli("import-predictions", str(work_dir))
    assert ran.code == 2
    assert "old:sums: the gold of prediction 1 is 'B', the row's answer is 'C'" in ran.err


def test_more_predictions_than_rows_are_refused(cli: Cli, work_dir: Path) -> None:
    ran = cli("import-predictions", str(work_dir), "--set", "datasets.sums.n=1", "--set", "datasets.sums.k=[1]")
    assert ran.code == 2
    assert "old:sums: 6 predictions for 3 rows" in ran.err


def test_without_the_data_prompts_and_golds_stand_for_it(cli: Cli, work_dir: Path) -> None:
    (work_dir / "rows.jsonl").unlink()
    (work_dir / "predictions" / "old" / "choice.json").unlink()
    ran = cli("import-predictions", str(work_dir), "--json")
    assert ran.code == 0, ran.err
    assert "the prompts and golds of its predictions stand for it" in ran.err
    cells = [cell for cell in ran.json["runs"][0]["cells"] if cell["dataset"] == "sums"]
    assert cells[0]["value"] == pytest.approx(100 * 4 / 6)


def test_missing_predictions_leave_the_cell_partial(cli: Cli, work_dir: Path) -> None:
    (work_dir / "predictions" / "old" / "sums_1.json").unlink()
    ran = cli("import-predictions", str(work_dir), "--json")
    assert ran.code == 3, ran.err
    assert "no prediction was imported for this request" in ran.out


@pytest.mark.parametrize(
    ("break_", "said"),
    [
        (lambda root: (root / "predictions/old/sums_0.json").write_text("[1]"), "is no file of predictions"),
        (lambda root: (root / "predictions/old/sums_0.json").write_text("{"), "cannot be read as JSON"),
        (lambda root: (root / "predictions/old/sums_0.json").write_text('{"0": {"gold": 1}}'), "row 0 has no prediction"),
        (lambda root: (root / "configs/20240101_000000_1.py").unlink(), "name the run's with --config"),
        (lambda root: (root / "predictions/old").rename(root / "predictions/new"), "holds new/choice, new/sums"),
        (lambda root: (root / "predictions").rename(root / "elsewhere"), "holds no predictions/MODEL/DATASET.json"),
    ],
)
def test_bad_input_is_one_line(cli: Cli, work_dir: Path, break_: object, said: str) -> None:
    break_(work_dir)  # type: ignore[operator]
    ran = cli("import-predictions", str(work_dir))
    assert ran.code == 2
    assert said in ran.err.splitlines()[-1]
