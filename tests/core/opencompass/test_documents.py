"""Every Python example of the user's documents loads as it stands, and runs once it is given what a fragment lacks."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from flows.api import evaluate
from leaderflow.core.load import load_evaluation
from leaderflow.core.opencompass import translate
from leaderflow.core.pyconfig import load_config
from tests.core.opencompass.conftest import Write
from tests.golden import folder

DOCUMENTS = {"prompt_templates.txt": 7, "datasets.txt": 5, "meta_template.zh.txt": 3}
"""Document → its examples."""

_BEGINS = re.compile(r"^(from|import) \S+|^[a-z_]+ = (dict|\[)")

ROW = {
    "question": "1+1?", "answer": "A", "problem": "1+1?", "input": "x", "output": "A",
    "A": "2", "B": "3", "C": "4", "reference": "A",
    "dialogue": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": ""}],
}  # fmt: skip

BEFORE = """\
from opencompass.openicl.icl_inferencer import GenInferencer
from opencompass.openicl.icl_raw_prompt_template import RawPromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever

class MyDataset:
    @staticmethod
    def load(path):
        return {{'train': [{row}] * 3, 'test': [{row}] * 2}}

class Length:
    def score(self, predictions, references):
        return {{'answers': len(predictions)}}

reader_cfg = dict(input_columns=list({row}), output_column='answer')
infer_cfg = dict(
    prompt_template=dict(type=RawPromptTemplate, messages=[dict(role='user', content='{{question}}')]),
    retriever=dict(type=ZeroRetriever), inferencer=dict(type=GenInferencer))
eval_cfg = dict(evaluator=dict(type=Length))
"""
AFTER = """
if 'multiif_infer_cfg' in locals():
    infer_cfg = multiif_infer_cfg
if 'yes' in dict(infer_cfg.get('prompt_template', {})).get('template', {}):
    infer_cfg.prompt_template.template = dict(A='{question} yes', B='{question} no')
eval_cfg['dataset_postprocessor'] = None
if 'datasets' not in locals():
    datasets = [dict(type=MyDataset, abbr='fragment', path='-', reader_cfg=reader_cfg, infer_cfg=infer_cfg, eval_cfg=eval_cfg)]
columns = list(MyDataset.load('-')['test'][0])
for d in datasets:
    d['reader_cfg'] = dict(d['reader_cfg'], input_columns=columns, output_column='answer', test_range=None)
meta_template = models[0]['meta_template'] if 'models' in locals() else None
models = [dict(type='Scripted', abbr='scripted', path='scripted', meta_template=meta_template)]
"""


def examples(document: str) -> list[str]:
    """Return the Python blocks of a document: from a line that begins one, as far as it still is Python."""
    lines = (folder("LEADERFLOW_SPEC", "spec") / document).read_text(encoding="utf-8").splitlines()
    found, at = [], 0
    while at < len(lines):
        if _BEGINS.match(lines[at]) and (end := _end(lines, at)):
            found.append("\n".join(lines[at:end]) + "\n")
            at = end
        else:
            at += 1
    return found


def _end(lines: list[str], start: int) -> int | None:
    last = None
    for end in range(start + 1, min(start + 60, len(lines)) + 1):
        try:
            tree = ast.parse("\n".join(lines[start:end]))
        except SyntaxError:
            continue
        if not all(isinstance(statement, ast.Import | ast.ImportFrom | ast.Assign) for statement in tree.body):
            break
        last = end
    return last


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_example_loads_as_it_stands(document: str, write: Write) -> None:
    found = examples(document)
    assert len(found) >= DOCUMENTS[document]
    for number, example in enumerate(found):
        load_config(write(f"example{number}.py", example))


def test_what_a_fragment_lacks_is_told_by_name_and_line(write: Write) -> None:
    example = next(text for text in examples("datasets.txt") if "MyDataset" in text)
    missing = {(m.kind, m.name) for m in translate(write("fragment.py", example)).report.missing}
    assert missing == {("dataset", "MyDataset"), ("name", "reader_cfg"), ("name", "infer_cfg"), ("name", "eval_cfg")}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_example_runs_with_what_it_lacks(
    document: str, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEADERFLOW_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    for number, example in enumerate(examples(document)):
        text = BEFORE.format(row=repr(json.loads(json.dumps(ROW)))) + example + AFTER
        result = evaluate(load_evaluation(write(f"{document[:4]}{number}.py", text)), server=False)
        assert result.state == "completed", (example, result.errors)
        assert all(cell.n == 2 for cell in result.cells)
