"""``leaderflow migrate``: the YAML runs the same as the Python file, and what it lacks is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from leaderflow.core.yaml import load_yaml
from tests.cli.conftest import Cli
from tests.fake_openai import FakeOpenAI, _fake_openai_server, fake_openai

__all__ = ["_fake_openai_server", "fake_openai"]

CONFIG = """\
from opencompass.models import OpenAISDK
from opencompass.openicl.icl_evaluator import AccEvaluator
from opencompass.openicl.icl_inferencer import GenInferencer
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import FixKRetriever
from opencompass.datasets import JsonlDataset
from opencompass.partitioners import NaivePartitioner
from opencompass.utils.text_postprocessors import first_capital_postprocess

round_ = [
    dict(role='HUMAN', prompt='Question: {{question}}\\nOptions: {{{{A}}}}, \\\\boxed{{{{}}}}\\n'),
    dict(role='BOT', prompt='{{answer}}'),
]
datasets = [
    dict(
        type=JsonlDataset,
        abbr=f'replies-{{i}}',
        path='replies.jsonl',
        reader_cfg=dict(input_columns='question', output_column='answer', test_range=f'[:{{i}}]'),
        infer_cfg=dict(
            ice_template=dict(type=PromptTemplate, template=dict(begin='</E>', round=round_), ice_token='</E>'),
            retriever=dict(type=FixKRetriever, fix_id_list=[0, 1]),
            inferencer=dict(type=GenInferencer, max_out_len=32)),
        eval_cfg=dict(evaluator=dict(type=AccEvaluator), pred_postprocessor=dict(type={postprocessor})))
    for i in (2, 3)
]
models = [
    dict(type=OpenAISDK, abbr='fake', path='fake', key='EMPTY', openai_api_base='{url}', query_per_second=1000, batch_size=8,
         temperature=1e-6, run_cfg=dict(num_gpus=1),
         meta_template=dict(round=[dict(role='HUMAN', api_role='HUMAN'), dict(role='BOT', api_role='BOT', generate=True)]))
]
infer = dict(partitioner=dict(type=NaivePartitioner))
"""


def test_the_yaml_gives_the_same_versions_and_asks_nothing_new(cli: Cli, folder: Path, fake_openai: FakeOpenAI) -> None:
    (folder / "eval.py").write_text(CONFIG.format(url=fake_openai.base_url, postprocessor="first_capital_postprocess"))
    first = cli("run", "eval.py", "--no-server", "--json")
    assert first.code == 0, first.err
    asked = fake_openai.stats["requests"]
    assert asked == 3, "the two ranges share their first rows"
    migrated = cli("migrate", "eval.py", "-o", "out", "--json")
    assert migrated.code == 0, migrated.err
    assert migrated.json["missing"] == []
    assert {"file": "out/eval.yaml", "models": 1, "datasets": 2}.items() <= migrated.json.items()
    assert any("shards are cut by leaderflow itself" in note for note in migrated.json["notes"])
    again = cli("run", "out/eval.yaml", "--no-server", "--json")
    assert again.code == 0, again.err
    assert [cell["version"] for cell in again.json["cells"]] == [cell["version"] for cell in first.json["cells"]]
    assert again.json["requests"]["sent"] == 0
    assert fake_openai.stats["requests"] == asked
    assert load_yaml(folder / "out/eval.yaml").value["models"][0]["generation_kwargs"] == {"temperature": 1e-6}


def test_what_cannot_be_carried_over_is_said(cli: Cli, folder: Path) -> None:
    text = CONFIG.format(url="http://127.0.0.1:9/v1", postprocessor="lambda text: text.strip()")
    (folder / "eval.py").write_text(text.replace("import AccEvaluator", "import LostEvaluator as AccEvaluator"))
    ran = cli("migrate", "eval.py", "-o", "out")
    assert ran.code == 3
    assert "LostEvaluator" in ran.err
    assert "eval.py:24" in ran.err
    assert "package.module:name" in ran.err
    refused = cli("run", "out/eval.yaml", "--no-server")
    assert refused.code == 2
    assert "eval.yaml:" in refused.err
    assert not (folder / "home/store/runs").exists()


def test_missing_names_are_a_table_before_anything_runs(cli: Cli, folder: Path) -> None:
    text = CONFIG.format(url="http://127.0.0.1:9/v1", postprocessor="first_capital_postprocess")
    (folder / "eval.py").write_text(text.replace("import AccEvaluator", "import LostEvaluator as AccEvaluator"))
    ran = cli("run", "eval.py", "--no-server")
    assert ran.code == 2
    assert [line for line in ran.err.splitlines() if line.split()[:3] == ["evaluator", "LostEvaluator", "eval.py:24"]]
    assert ran.err.splitlines()[-1].startswith("leaderflow: eval.py:24: no counterpart for evaluator LostEvaluator")


def test_a_file_with_models_only(cli: Cli, folder: Path) -> None:
    (folder / "m.py").write_text("from opencompass.models import OpenAISDK\nmodels = [dict(type=OpenAISDK, path='a', abbr='a')]\n")
    assert cli("migrate", "m.py").code == 0
    assert load_yaml(folder / "m.yaml").value == {"models": [{"type": "OpenAISDK", "abbr": "a", "path": "a"}]}


def test_a_wrong_root_is_refused(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEADERFLOW_OPENCOMPASS", "")
    (folder / "m.py").write_text("models = []\n")
    ran = cli("migrate", "m.py", "--opencompass-root", ".")
    assert ran.code == 2
    assert "holds no configs" in ran.err
