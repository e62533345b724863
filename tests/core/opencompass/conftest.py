from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[[str, str], Path]

HEAD = """\
from mmengine.config import read_base
from opencompass.models import OpenAISDK, HuggingFacewithChatTemplate, VLLMwithChatTemplate, HuggingFaceCausalLM, OpenAI
from opencompass.datasets import HFDataset, JsonlDataset, Gsm8kEvaluator, gsm8k_postprocess, gsm8k_dataset_postprocess
from opencompass.openicl.icl_evaluator import AccEvaluator
from opencompass.openicl.icl_inferencer import GenInferencer, PPLInferencer
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_raw_prompt_template import RawPromptTemplate
from opencompass.openicl.icl_retriever import FixKRetriever, ZeroRetriever
from opencompass.partitioners import NaivePartitioner, NumWorkerPartitioner
from opencompass.runners import LocalRunner
from opencompass.tasks import OpenICLEvalTask, OpenICLInferTask
from opencompass.utils.text_postprocessors import first_option_postprocess

reader_cfg = dict(input_columns=['question'], output_column='answer')
infer_cfg = dict(
    prompt_template=dict(type=RawPromptTemplate, messages=[dict(role='user', content='{question}')]),
    retriever=dict(type=ZeroRetriever),
    inferencer=dict(type=GenInferencer, max_out_len=16),
)
eval_cfg = dict(evaluator=dict(type=AccEvaluator))
"""


@pytest.fixture(autouse=True)
def _no_opencompass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEADERFLOW_OPENCOMPASS", raising=False)
    monkeypatch.delenv("COMPASS_DATA_CACHE", raising=False)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file below the test's folder."""

    def _write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return _write
