from __future__ import annotations

from typing import Any

import pytest

from inference.inferencers.gen import GenInferencer, with_kwargs
from leaderflow.core import registry
from leaderflow.core.errors import SpecError
from leaderflow.core.types import Settings
from tests.inference.helpers import prompts


def keys(
    inferencer: GenInferencer, *, identity: str = "m", defaults: Settings | None = None, questions: tuple[str, ...] = ("a", "b")
) -> list[str]:
    return [r.request_key for r in inferencer.requests(prompts(questions), identity, defaults or Settings())]


def test_its_own_values_beat_the_models() -> None:
    model = Settings(max_out_len=100, temperature=1.0, stop=("END",), extra={"a": 1, "b": 1})
    own = GenInferencer(
        max_out_len=5, temperature=0.0, stopping_criteria=["\n"], generation_kwargs={"b": 2, "top_p": 0.5}
    ).settings(model)
    assert own == Settings(max_out_len=5, temperature=0.0, top_p=0.5, stop=("END", "\n"), extra={"a": 1, "b": 2})


def test_what_it_does_not_say_is_the_models() -> None:
    model = Settings(max_out_len=100, min_out_len=2, temperature=1.0, stop=("END",))
    assert GenInferencer().settings(model) == model


def test_one_request_a_row_and_repeat_in_row_order() -> None:
    requests = GenInferencer(repeats=2).requests(prompts(["a", "b"]), "m", Settings())
    assert [(r.prompt.messages[0]["content"], r.repeat) for r in requests if r.prompt.messages] == [
        ("a", 0),
        ("a", 1),
        ("b", 0),
        ("b", 1),
    ]
    assert len({r.request_key for r in requests}) == 4


def test_more_repeats_keep_the_first_ones_keys() -> None:
    assert set(keys(GenInferencer(repeats=1, seed=3))) < set(keys(GenInferencer(repeats=4, seed=3)))


def test_repeats_of_a_seed_differ() -> None:
    requests = GenInferencer(repeats=3, seed=5).requests(prompts(["a"]), "m", Settings())
    assert [r.settings.seed for r in requests] == [5, 6, 7]


def test_rejected_rows_are_left_out() -> None:
    assert GenInferencer().requests(prompts(["a"], status="rejected"), "m", Settings()) == []


def test_equal_prompts_of_a_cell_are_asked_each() -> None:
    assert len(set(keys(GenInferencer(), questions=("a", "a")))) == 2


@pytest.mark.parametrize(
    "changed",
    [
        {"max_out_len": 5},
        {"min_out_len": 1},
        {"temperature": 0.7},
        {"top_p": 0.9},
        {"top_k": 3},
        {"seed": 2},
        {"stopping_criteria": ["\n"]},
        {"generation_kwargs": {"extra": 1}},
    ],
)
def test_every_setting_changes_every_key(changed: dict[str, Any]) -> None:
    assert not set(keys(GenInferencer())) & set(keys(GenInferencer(**changed)))
    assert keys(GenInferencer(**changed)) == keys(GenInferencer(**changed))


def test_the_model_changes_every_key() -> None:
    assert not set(keys(GenInferencer())) & set(keys(GenInferencer(), identity="other"))


@pytest.mark.parametrize(
    "bad", [{"max_out_len": 0}, {"max_out_len": True}, {"min_out_len": -1}, {"stopping_criteria": [""]}, {"stopping_criteria": [5]}]
)
def test_values_that_cannot_work_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match=f"{next(iter(bad))}.*must be"):
        GenInferencer(**bad)


@pytest.mark.parametrize("name", ["max_tokens", "n", "stream", "messages"])
def test_arguments_that_have_a_place_of_their_own(name: str) -> None:
    with pytest.raises(SpecError, match=f"'{name}' cannot stand here; use"):
        with_kwargs(Settings(), {name: 1})


def test_unknown_arguments_are_refused() -> None:
    with pytest.raises(SpecError, match="has no argument 'max_out_length'; did you mean 'max_out_len'"):
        registry.check("inferencer", {"type": "GenInferencer", "max_out_length": 5})


@pytest.mark.parametrize(
    ("kwargs", "key"),
    [
        ({"temperature": "hot"}, "generation_kwargs.temperature"),
        ({"top_p": True}, "generation_kwargs.top_p"),
        ({"top_k": 1.5}, "generation_kwargs.top_k"),
        ({"seed": "7"}, "generation_kwargs.seed"),
        ({"stop": 5}, "generation_kwargs.stop"),
    ],
)
def test_settings_of_the_wrong_kind_are_refused_before_anything_is_asked(kwargs: dict[str, Any], key: str) -> None:
    with pytest.raises(SpecError, match=key):
        with_kwargs(Settings(), kwargs)
