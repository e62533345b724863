"""Self-consistency, Min-K %, sliding windows, and the normalisations of likelihoods."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from evaluators.choice import choose
from evaluators.likelihood import BitsPerCharacter
from inference.answers import AnswerStore
from inference.inferencers.min_k import MinKPercentInferencer
from inference.inferencers.ppl import PPLInferencer
from inference.inferencers.sc import SCInferencer
from inference.inferencers.windows import SWCELossInferencer
from inference.stage import infer, make_backend
from leaderflow.core.artifacts import PROMPTS, table_of
from leaderflow.core.errors import SpecError
from leaderflow.core.identity import input_key
from leaderflow.core.types import Prompt, Settings
from tests.fake_openai import FakeOpenAI
from tests.inference.helpers import model, prompts

SCORING = {"route": "completions", "logprobs": "prompt_logprobs"}


def rendered(*inputs: tuple[str | None, Prompt]) -> Any:
    rows = [
        {
            "sample_id": "s",
            "label": label,
            "part": 0,
            "occurrence": 0,
            "input_key": input_key(prompt),
            "text": prompt.text,
            "continuation": prompt.continuation,
            "dropped_examples": 0,
            "status": "ok",
        }
        for label, prompt in inputs
    ]
    return table_of(PROMPTS, rows)


def measure(server: FakeOpenAI, store: Path, inferencer: Any, *inputs: tuple[str | None, Prompt]) -> list[dict[str, Any]]:
    """The fake server gives each token but the first −0.1 a character, blanks before it included."""
    backend = make_backend(model(server.base_url, arguments=SCORING))
    table = infer(rendered(*inputs), inferencer, backend, AnswerStore(store, backend.identity), Settings())
    backend.close()
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def test_self_consistency_samples(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    backend = make_backend(model(fake_openai.base_url))
    inferencer = SCInferencer(sc_size=3, seed=5)
    table = infer(prompts(["one?", "two?"]), inferencer, backend, AnswerStore(tmp_path, backend.identity), Settings())
    backend.close()
    assert table.column("repeat").to_pylist() == [0, 1, 2] * 2
    bodies = fake_openai.stats["bodies"]
    assert sorted(body["seed"] for body in bodies) == [5, 5, 6, 6, 7, 7]
    assert {(body["temperature"], body["top_k"]) for body in bodies} == {(0.7, 40)}
    assert SCInferencer(repeats=4).repeats == 4
    with pytest.raises(SpecError, match="sc_size"):
        SCInferencer(sc_size=0)


def test_min_k(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    text = (None, Prompt(text="first aaaa bbb cc d eeeee"))  # losses 0.5 0.4 0.3 0.2 0.6
    assert json.loads(measure(fake_openai, tmp_path, MinKPercentInferencer(), text)[0]["output"]) == pytest.approx(0.6)
    assert json.loads(measure(fake_openai, tmp_path, MinKPercentInferencer(k=40), text)[0]["output"]) == pytest.approx(0.55)
    assert measure(fake_openai, tmp_path, PPLInferencer(), text)[0]["output"] is None
    assert fake_openai.stats["requests"] == 1  # one likelihood serves them all
    with pytest.raises(SpecError, match="above 0"):
        MinKPercentInferencer(k=0)


def test_windows_cover_the_text_once(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    words = "".join(f"word{n:02d} " for n in range(50))  # 350 characters
    inferencer = SWCELossInferencer(window=70, stride=35)
    row = measure(fake_openai, tmp_path, inferencer, (None, Prompt(text=words)))[0]
    measured = json.loads(row["output"])
    bodies = [body["prompt"] for body in fake_openai.stats["bodies"]]
    assert len(bodies) == 10
    assert sorted(map(len, bodies)) == [35, *[70] * 9]
    assert measured["characters"] == 350
    assert measured["loss"] == pytest.approx(row["nll"])
    assert 0.1 * 350 * 0.9 < row["nll"] < 0.1 * 350 * 1.3
    bits = BitsPerCharacter().measure([row["output"]])["bits_per_character"]
    assert bits == pytest.approx(row["nll"] / 350 / math.log(2))
    measure(fake_openai, tmp_path, SWCELossInferencer(window=70, stride=35), (None, Prompt(text=words + "more")))
    assert fake_openai.stats["requests"] == 11  # only the window that is new
    with pytest.raises(SpecError, match="stride"):
        SWCELossInferencer(window=10, stride=11)


def test_a_window_without_an_answer_leaves_the_text_without_one(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    fake_openai.script(rules=[{"replies": ["bad_request"], "contains": "poison"}])
    text = (None, Prompt(text="good " * 20 + "poison " + "good " * 20))
    row = measure(fake_openai, tmp_path, SWCELossInferencer(window=40, stride=20), text)[0]
    assert (row["status"], row["output"]) == ("error", None)
    asked = fake_openai.stats["requests"]
    fake_openai.heal()
    assert measure(fake_openai, tmp_path, SWCELossInferencer(window=40, stride=20), text)[0]["status"] == "ok"
    assert fake_openai.stats["requests"] - asked <= 3


def options(**texts: str) -> list[tuple[str | None, Prompt]]:
    return [(label, Prompt(text="Question: what?\nAnswer:", continuation=text)) for label, text in texts.items()]


def test_characters_and_bytes(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    inputs = options(A=" yes", B=" ééé")
    by_char = measure(fake_openai, tmp_path, PPLInferencer(choice="char_mean"), *inputs)
    by_byte = measure(fake_openai, tmp_path, PPLInferencer(choice="byte_mean"), *inputs)
    assert [json.loads(row["output"]) for row in by_char] == pytest.approx([0.1, 0.1])
    assert [json.loads(row["output"]) for row in by_byte] == pytest.approx([0.1, 0.4 / 7])
    assert (choose(by_char, "measured"), choose(by_byte, "measured")) == ("A", "B")
    assert PPLInferencer(choice="byte_mean").choice == "measured"


@pytest.mark.parametrize("inferencer", [PPLInferencer(choice="char_mean"), SWCELossInferencer()])
def test_a_dialogue_has_no_text_to_count_or_cut(fake_openai: FakeOpenAI, tmp_path: Path, inferencer: PPLInferencer) -> None:
    with pytest.raises(SpecError, match="use a model type that takes text"):
        measure(fake_openai, tmp_path, inferencer, ("A", Prompt(messages=({"role": "user", "content": "x"},))))
    assert not fake_openai.stats["requests"]


def test_unconditional(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    rows = measure(fake_openai, tmp_path, PPLInferencer(choice="unconditional", neutral="Guess:"), *options(A=" yes", B=" no"))
    assert [row["nll"] for row in rows] == pytest.approx([0.0, 0.0])
    assert sorted(body["prompt"] for body in fake_openai.stats["bodies"])[:2] == ["Guess: no", "Guess: yes"]
    assert choose(rows, PPLInferencer(choice="unconditional").choice or "") == "A"
    with pytest.raises(SpecError, match="use LLInferencer"):
        measure(fake_openai, tmp_path, PPLInferencer(choice="unconditional"), ("A", Prompt(text="whole")))
