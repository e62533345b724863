"""The recorded configurations and evaluation blocks of OpenCompass, sent through the translation first."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from leaderflow.core.opencompass.datasets import dataset
from leaderflow.core.opencompass.report import Report
from leaderflow.core.opencompass.translator import Translator
from leaderflow.core.pyconfig import Config
from tests.evaluators import test_golden_real_eval as evaluation
from tests.golden import golden, run_cases
from tests.templating import recorded
from tests.templating.test_golden_real_configs import EXCEPTIONS, MODELS, _compare

pytestmark = pytest.mark.golden

SECTIONS = {"reader_cfg": {"input_columns": ["q"], "output_column": "a"}, "infer_cfg": {"inferencer": {"type": "GenInferencer"}}}


def translated(block: dict[str, Any]) -> tuple[dict[str, Any], Report]:
    report = Report()
    translator = Translator(Config(Path("recorded.py"), {}), report)
    found: dict[str, Any] = translator.located(dataset(translator, block, (None, None))).value
    return found, report


@pytest.mark.parametrize("file", ["real_configs.jsonl", "real_configs_2.jsonl", "real_configs_3.jsonl"])
def test_translated_configurations_render_as_recorded(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEADERFLOW_OPENCOMPASS", raising=False)
    missing: Counter[str] = Counter()
    compared = agreed = mapped = total = 0
    differences = []
    for case in golden(file):
        found, report = translated(case["dataset_config"])
        lacking = {f"{m.kind} {m.name}" for m in report.missing if m.kind != "dataset"}
        total, mapped = total + 1, mapped + (not lacking)
        missing.update(lacking)
        template = case["dataset_config"]["infer_cfg"].get("prompt_template") or {}
        if "expected" not in case or recorded.short(template.get("type", "")) in EXCEPTIONS:
            continue
        case["dataset_config"]["infer_cfg"] = found["infer_cfg"]
        for model in MODELS:
            count, same, first = _compare(case, model)
            compared, agreed = compared + count, agreed + same
            differences += [f"{case['config_file']} {model}: {first}"] if first else []
    print(
        f"{file}: {mapped} of {total} mapped, {compared} renderings compared, {compared - agreed} differ; {missing.most_common(8)}"
    )
    assert compared, f"{file} holds no rendering"
    assert not differences, "\n".join(differences[:20])
    assert (
        not {name for name in missing if name.startswith(("template PromptTemplate", "template Raw", "retriever", "key"))} - KNOWN
    )


KNOWN = {
    "key eval_cfg.model_postprocessor",
    "key eval_cfg.analyze_contamination",
    "key eval_cfg.sc_size",
    "key infer_cfg.max_out_len",
}
"""Keys that ask for what is not built: postprocessing by a model, contamination annotations, self-consistency."""


def test_evaluation_blocks_score_as_recorded_when_translated() -> None:
    cases = []
    for case in golden("real_eval.jsonl"):
        found, report = translated({"type": "JsonlDataset", "path": "x", **SECTIONS, "eval_cfg": case["eval_cfg"]})
        assert not report.missing, report.missing
        cases.append(case | {"eval_cfg": found["eval_cfg"]})
    run_cases("real_eval.jsonl, translated", cases, evaluation.check, evaluation.excepted)
