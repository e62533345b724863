"""The same rows through Transformers, vLLM's server, its offline engine, and the API backend on a server."""

from __future__ import annotations

from statistics import fmean

import pytest

from flows.result import RunResult
from tests.inference.vllm.real.setting import HF, HF_TEXT, MARKS, ROWS, WEIGHTS, block, run, served, tables, vllm

pytestmark = MARKS

FIRST = 16

DATASETS = list(ROWS)


class Reading:
    """What a run's tables hold of one model, read at once."""

    def __init__(self, result: RunResult, model: str, *datasets: str) -> None:
        cells = {name: f"{model}:{name}" for name in datasets}
        self.outputs = {name: tables(result, cell, "outputs").to_pylist() for name, cell in cells.items()}
        self.extracted = {name: tables(result, cell, "extracted").column("extracted").to_pylist() for name, cell in cells.items()}
        self.values = {cell.dataset: cell.value for cell in result.cells if cell.model == model}


@pytest.fixture(scope="module")
def reference(_one_home: None) -> Reading:
    return Reading(run([HF], DATASETS), "hf", *DATASETS)


@pytest.fixture(scope="module")
def server(_one_home: None) -> Reading:
    return Reading(run([vllm()], DATASETS), "vllm", *DATASETS)


@pytest.fixture(scope="module")
def offline(_one_home: None, tmp_path_factory: pytest.TempPathFactory) -> Reading:
    """In a store of its own, because the two engines share their answers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEADERFLOW_STORE", str(tmp_path_factory.mktemp("offline") / "store"))
        return Reading(run([vllm("offline", engine="offline")], DATASETS), "offline", *DATASETS)


def compare_likelihoods(left: Reading, right: Reading, what: str) -> None:
    name = "arc_c_ppl"
    same = sum(a == b for a, b in zip(left.extracted[name], right.extracted[name], strict=True))
    rows = zip(left.outputs[name], right.outputs[name], strict=True)
    tokens = [abs(x - y) for a, b in rows for x, y in zip(a["token_logprobs"], b["token_logprobs"], strict=True)]
    print(
        f"\n{what}, ARC ppl: {same} of {ROWS[name]} choices agree; {len(tokens)} tokens, log-likelihood of a token: "
        f"largest difference {max(tokens):.1e}, mean {fmean(tokens):.1e}"
    )
    assert same >= 0.99 * ROWS[name]
    assert max(tokens) <= 1e-3


def compare_beginnings(left: Reading, right: Reading, name: str, what: str) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(WEIGHTS)
    begins = [
        [tokenizer(row["output"], add_special_tokens=False)["input_ids"][:FIRST] for row in r.outputs[name]] for r in (left, right)
    ]
    same = sum(a == b for a, b in zip(*begins, strict=True))
    whole = sum(a["output"] == b["output"] for a, b in zip(left.outputs[name], right.outputs[name], strict=True))
    print(
        f"\n{what}, {name}: the first {FIRST} greedy tokens agree on {same} of {ROWS[name]} prompts, the whole answers on {whole}; "
        f"scores {left.values[name]} and {right.values[name]}"
    )
    assert same >= 0.9 * ROWS[name]


def compare_all(left: Reading, right: Reading, what: str) -> None:
    compare_likelihoods(left, right, what)
    compare_beginnings(left, right, "gsm8k", what)
    compare_beginnings(left, right, "arc_c_gen", what)


def test_vllm_agrees_with_transformers(reference: Reading, server: Reading) -> None:
    compare_all(reference, server, "Transformers and vLLM's server")


def test_the_offline_engine_agrees_with_both(reference: Reading, server: Reading, offline: Reading) -> None:
    compare_all(reference, offline, "Transformers and vLLM's offline engine")
    compare_all(server, offline, "vLLM's server and its offline engine")


def test_the_api_backend_on_that_server(reference: Reading) -> None:
    with served() as address:
        elsewhere = {"path": "model", "openai_api_base": address, "revision": "1"}
        text = block("OpenAISDK", "api-text", **elsewhere, arguments={"route": "completions", "logprobs": "prompt_logprobs"})
        scored = run([HF_TEXT, text], ["arc_c_ppl"])
        chat = block("OpenAISDK", "api", **elsewhere, generation_kwargs={"temperature": 0.0})
        asked = run([chat], ["gsm8k", "arc_c_gen"])
    what = "Transformers and the API backend"
    compare_likelihoods(Reading(scored, "hf-text", "arc_c_ppl"), Reading(scored, "api-text", "arc_c_ppl"), what)
    for name in ("gsm8k", "arc_c_gen"):
        compare_beginnings(reference, Reading(asked, "api", name), name, what)
