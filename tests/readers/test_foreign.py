"""Dataset classes in the style of OpenCompass give their own rows, from modules of users and from a package at hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leaderflow.core.artifacts import rows_of
from leaderflow.core.errors import DataError, SpecError
from leaderflow.core.load import load_dataset
from leaderflow.core.opencompass import translate
from readers.stage import Source, fingerprint, read

PACKAGE = {
    "configs/datasets/lab/lab_gen.py": """\
from opencompass.datasets import LabDataset, LabEvaluator, lab_postprocess, RunsCode, NeedsMuch
lab_datasets = [dict(
    type=LabDataset, abbr='lab', path='opencompass/lab', subset='b',
    reader_cfg=dict(input_columns=['q'], output_column='a'),
    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{q}'), retriever=dict(type='ZeroRetriever'),
                   inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(type=LabEvaluator, factor=2), pred_postprocessor=dict(type=lab_postprocess, cut='.')))]
""",
    "datasets/__init__.py": "raise RuntimeError('the package is never imported')\n",
    "datasets/base.py": "from opencompass.openicl import DatasetReader\nclass BaseDataset:\n    pass\n",
    "datasets/lab.py": """\
import json, os
from datasets import Dataset, DatasetDict
from mmengine import something
from opencompass.openicl.icl_evaluator import BaseEvaluator
from opencompass.registry import LOAD_DATASET, TEXT_POSTPROCESSORS
from opencompass.utils import get_data_path, get_logger
from .base import BaseDataset
from .lab_tools import run, shout
import timeouts_that_are_not_there as timeouts
logger = get_logger()

@LOAD_DATASET.register_module()
class LabDataset(BaseDataset):
    @staticmethod
    def load(path, subset):
        rows = [json.loads(line) for line in open(os.path.join(get_data_path(path), subset + '.jsonl'))]
        return DatasetDict({'test': Dataset.from_list([{'q': shout(row['q']), 'a': row['a']} for row in rows])})

class LabEvaluator(BaseEvaluator):
    def __init__(self, factor=1):
        self.factor = factor
    def score(self, predictions, references, test_set):
        assert test_set['q'][0] == test_set[0]['q']
        right = [p == r for p, r in zip(predictions, references)]
        details = {str(i): {'correct': one} for i, one in enumerate(right)}
        return {'lab': self.factor * sum(right) / len(right), 'details': details}

@TEXT_POSTPROCESSORS.register_module('lab')
def lab_postprocess(answer, cut):
    return answer.split(cut)[0]

class RunsCode(BaseEvaluator):
    def score(self, predictions, references):
        return {'pass': sum(exec(p) is None for p in predictions)}

class RunsFar(BaseEvaluator):
    def score(self, predictions, references):
        return {'pass': sum(run(p) is None for p in predictions)}

@timeouts.timeout(5)
def slow():
    pass

class NeedsMuch(BaseEvaluator):
    def score(self, predictions, references):
        import package_that_is_not_there
""",
    "datasets/lab_tools.py": "def shout(text):\n    return text.upper()\ndef run(text):\n    return exec(text)\n",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in PACKAGE.items():
        path = tmp_path / "opencompass" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setenv("LEADERFLOW_OPENCOMPASS", str(tmp_path))
    monkeypatch.delenv("COMPASS_DATA_CACHE", raising=False)
    data = tmp_path / "archive" / "lab"
    data.mkdir(parents=True)
    (data / "b.jsonl").write_text(json.dumps({"q": "one", "a": "x"}) + "\n" + json.dumps({"q": "two", "a": "y"}) + "\n")
    return tmp_path / "opencompass"


def config(package: Path, **changes: str) -> Path:
    path = package / "configs/datasets/lab/lab_gen.py"
    for old, new in changes.items():
        path.write_text(path.read_text().replace(old, new))
    return path


def test_a_dataset_class_of_the_package_gives_its_own_rows(package: Path) -> None:
    (dataset,) = load_dataset(config(package))
    assert dataset.type == "opencompass.datasets.lab:LabDataset"
    source = Source(package.parent / "archive")
    samples, _ = read(dataset, source, pool=False)
    assert [row for _, row in rows_of(samples)] == [{"q": "ONE", "a": "x"}, {"q": "TWO", "a": "y"}]
    before = fingerprint(dataset, source)
    assert str(package.parent) not in json.dumps(before)
    (package.parent / "archive/lab/b.jsonl").write_text(json.dumps({"q": "three", "a": "z"}) + "\n")
    assert fingerprint(dataset, source) != before


def test_evaluators_and_postprocessors_of_the_package(package: Path) -> None:
    from leaderflow.core import registry

    cfg = load_dataset(config(package))[0].eval_cfg
    assert cfg.pred_postprocessor is not None
    assert registry.bind("postprocessor", cfg.pred_postprocessor)("x. And more") == "x"
    evaluator = registry.build("evaluator", cfg.evaluator)
    rows = [{"q": "ONE"}, {"q": "TWO"}]
    assert evaluator.measure(["x", "z"], ["x", "y"], rows) == {"lab": 1.0}
    assert [rating.correct for rating in evaluator.rate(["x", "z"], ["x", "y"], rows)] == [True, False]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("RunsCode", "because it says exec"),
        ("RunsFar", "because it says exec"),
        ("NeedsMuch", "needs package_that_is_not_there"),
        ("Nowhere", ""),
    ],
)
def test_what_cannot_score_is_refused_before_anything_is_asked(package: Path, name: str, reason: str) -> None:
    path = config(package, **{"type=LabEvaluator": f"type={name}", "import LabDataset": f"import {name}, LabDataset"})
    (missing,) = translate(path).report.missing
    assert (missing.kind, missing.name, missing.line) == ("evaluator", name, 7)
    assert reason in missing.hint


def test_migrated_files_say_that_they_need_the_package(package: Path, tmp_path: Path) -> None:
    from leaderflow.core.opencompass.migrate import migrate

    found = migrate(config(package), tmp_path / "out")
    assert found.missing == []
    assert "--opencompass-root" in found.notes[-1]
    assert "opencompass.datasets.lab:LabDataset" in found.notes[-1]
    assert found.notes[-1] in found.file.read_text()


def test_without_the_package_the_class_is_missing(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = config(package)
    (dataset,) = load_dataset(path)
    monkeypatch.delenv("LEADERFLOW_OPENCOMPASS")
    assert {m.name for m in translate(path).report.missing} >= {"LabDataset", "LabEvaluator", "lab_postprocess"}
    with pytest.raises(SpecError, match="name its checkout or package with --opencompass-root DIR"):
        read(dataset, Source(), pool=False)


def test_a_failing_load_is_one_line(package: Path) -> None:
    (dataset,) = load_dataset(config(package))
    with pytest.raises(DataError, match=r"dataset 'lab': no file .*b\.jsonl; put it below") as failed:
        read(dataset, Source(package), pool=False)
    (package.parent / "archive/lab/b.jsonl").write_text("[]\n")
    with pytest.raises(DataError, match=r"dataset 'lab': LabDataset\.load failed: TypeError"):
        read(dataset, Source(package.parent / "archive"), pool=False)
    assert "\n" not in str(failed.value)
