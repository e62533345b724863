"""What ends an answer, and what an adapter changes: the same through Transformers and every way to vLLM."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from inference.stage import defaults
from leaderflow.core.specs import ModelSpec
from leaderflow.core.types import Answer
from tests.inference.huggingface.ask import generate, loglikelihood
from tests.inference.huggingface.test_adapter import make_adapter
from tests.inference.vllm.real.setting import ENGINE, HF_TEXT, MARKS, WEIGHTS, backend, block, served, vllm

pytestmark = MARKS

PROMPTS = [
    "The capital of France is",
    "Once upon a time, there was a",
    "Water boils at a temperature of",
    "The first president of the United States was",
    "In the morning, she opened the door and",
    "To make a cup of tea, first",
]

SPECIAL = "<|im_start|>"


def texts(answers: list[Answer]) -> list[str]:
    assert {a.status for a in answers} <= {"ok", "truncated"}, answers
    return [str(a.output) for a in answers]


@pytest.fixture(scope="module")
def free(_one_home: None) -> list[str]:
    model = backend(HF_TEXT)
    found = texts(generate(model, PROMPTS, max_out_len=24))
    model.close()
    return found


@pytest.fixture(scope="module")
def turns(free: list[str]) -> dict[str, Any]:
    """A meta_template whose end token is the third token of the first answer, and whose end is the second answer's fifth word."""
    from transformers import AutoTokenizer

    tokens = AutoTokenizer.from_pretrained(WEIGHTS)(free[0])["input_ids"]
    roles = [{"role": "HUMAN"}, {"role": "BOT", "generate": True, "end": free[1].split()[4]}]
    return {"round": roles, "eos_token_id": tokens[2]}


@pytest.fixture(scope="module")
def expected(free: list[str], turns: dict[str, Any]) -> list[str]:
    """The free answers, cut where the end token or the end stands."""
    from transformers import AutoTokenizer

    tokenizer, found = AutoTokenizer.from_pretrained(WEIGHTS), []
    for text in free:
        ids = tokenizer(text)["input_ids"]
        ids = ids[: ids.index(turns["eos_token_id"])] if turns["eos_token_id"] in ids else ids
        found.append(tokenizer.decode(ids).partition(turns["round"][1]["end"])[0])
    assert found[0] != free[0]
    assert found[1] != free[1]
    return found


def _ways(turns: dict[str, Any], address: str) -> dict[str, Callable[[], dict[str, Any]]]:
    ends = {"meta_template": turns}
    api = {"path": "model", "openai_api_base": address, "generation_kwargs": {"temperature": 0.0}}
    return {
        "Transformers": lambda: {**HF_TEXT, **ends},
        "vLLM's server": lambda: vllm(kind="VLLM", fields=ends),
        "vLLM's offline engine": lambda: vllm(kind="VLLM", fields=ends, engine="offline"),
        "the API backend": lambda: block("OpenAISDK", "api", **api, **ends, arguments={"route": "completions"}),
        "VLLM on a running server": lambda: block("VLLM", "running", **api, **ends),
    }


@pytest.fixture(scope="module")
def address(_one_home: None) -> Iterator[str]:
    with served() as found:
        yield found


@pytest.mark.parametrize(
    "way", ["Transformers", "vLLM's server", "vLLM's offline engine", "the API backend", "VLLM on a running server"]
)
def test_what_ends_a_turn_reaches_every_backend(
    way: str, turns: dict[str, Any], expected: list[str], request: pytest.FixtureRequest
) -> None:
    place = request.getfixturevalue("address") if "API" in way or "running" in way else ""
    model = _ways(turns, place)[way]()
    settings = defaults(ModelSpec(**model), {"type": "GenInferencer", "max_out_len": 24})
    asked = backend(model)
    found = texts(generate(asked, PROMPTS, max_out_len=24, stop=settings.stop, temperature=settings.temperature))
    same = sum(a.strip() == b.strip() for a, b in zip(found, expected, strict=True))
    print(f"\n{way}: end token and end cut {same} of {len(PROMPTS)} answers as expected")
    assert found[:2] == expected[:2]
    assert same >= len(PROMPTS) - 1
    if "vLLM's" in way:  # a special token is never shown, so no stop string could be found in the text
        forced = generate(asked, ["hi"], max_out_len=24, stop=(SPECIAL,), extra={"logit_bias": {"1": 100}})[0]
        assert (forced.status, forced.output, forced.output_tokens) == ("ok", "", 1)
    asked.close()


@pytest.fixture(scope="module")
def adapter(_one_home: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_adapter(WEIGHTS, tmp_path_factory.mktemp("adapter"), rank=6)


@pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing. is deprecated:FutureWarning")
def test_an_adapter_says_the_same_under_vllm_and_peft(free: list[str], adapter: Path) -> None:
    scored = [prompt + text for prompt, text in zip(PROMPTS, free, strict=True)]
    models = {
        "plain": HF_TEXT,
        "PEFT": {**HF_TEXT, "arguments": {"dtype": "float32", "peft_path": str(adapter)}},
        "server": block("VLLM", "lora", arguments={**ENGINE, "lora": str(adapter)}),
        "offline": block("VLLM", "lora", arguments={**ENGINE, "lora": str(adapter), "engine": "offline"}),
    }
    values, said = {}, {}
    for name, model in models.items():
        asked = backend(model)
        values[name] = [value for answer in loglikelihood(asked, scored) for value in answer.token_logprobs]
        said[name] = texts(generate(asked, PROMPTS, max_out_len=16))
        asked.close()
    for name in ("plain", "server", "offline"):
        apart = [abs(a - b) for a, b in zip(values["PEFT"], values[name], strict=True)]
        same = sum(a == b for a, b in zip(said["PEFT"], said[name], strict=True))
        print(
            f"\nLoRA, PEFT and {name}: {len(apart)} tokens, largest difference {max(apart):.1e}, mean {fmean(apart):.1e}; "
            f"{same} of {len(PROMPTS)} answers agree"
        )
        assert (max(apart) <= 1e-3 and same >= 0.9 * len(PROMPTS)) is (name != "plain")
