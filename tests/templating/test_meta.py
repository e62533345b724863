"""What the model's side does where the documents leave a question, and where OpenCompass fails."""

from __future__ import annotations

import pytest

from leaderflow.core.errors import SpecError, TemplateError
from leaderflow.core.types import Json
from templating.meta_list import ListMeta
from templating.stage import role_markers
from tests.templating.build import assistant, legacy, raw, sent, spec, system, target, turn, user

API = {
    "round": [{"role": "HUMAN", "api_role": "user"}, {"role": "BOT", "api_role": "assistant", "generate": True}],
    "reserved_roles": [{"role": "SYSTEM", "api_role": "system"}],
}
TEXT = {
    "begin": "^",
    "round": [{"role": "HUMAN", "begin": "<H>", "end": "</H>"}, {"role": "BOT", "begin": "<B>", "end": "</B>", "generate": True}],
    "reserved_roles": [{"role": "SYSTEM", "begin": "<S>", "end": "</S>"}],
    "end": "$",
}
ROW = {"question": "q", "answer": "a"}


def api(round_: Json, mode: str = "gen", meta: Json = API, **sections: Json) -> Json:
    return sent(spec(legacy({"round": round_, **sections})), target(mode=mode, meta_template=meta), ROW)


def text(round_: Json, mode: str = "gen", meta: Json = TEXT, **sections: Json) -> Json:
    return sent(spec(legacy({"round": round_, **sections})), target("text", mode, meta), ROW)


def test_end_section_stands_after_the_conversation() -> None:
    talk = [turn("HUMAN", "{question}"), turn("BOT", "b")]
    assert text(talk, "ppl", end=[turn("HUMAN", "bye")]) == "^<H>q</H><B>b</B><H>bye</H>$"
    assert api(talk, "ppl", end=[turn("HUMAN", "bye")]) == [user("q"), assistant("b"), user("bye")]
    assert text(talk, "gen", end=[turn("HUMAN", "bye")]) == "^<H>q</H><B>"


def test_a_bot_turn_in_begin_is_said() -> None:
    begin = [turn("HUMAN", "u"), turn("BOT", "ok")]
    assert api([turn("HUMAN", "{question}")], begin=begin) == [user("u"), assistant("ok"), user("q")]
    assert text([turn("HUMAN", "{question}")], begin=begin) == "^<H>u</H><B>ok</B><H>q</H><B>"


def test_no_empty_turns_between_equal_neighbours() -> None:
    two = [turn("HUMAN", "h1"), turn("HUMAN", "h2"), turn("BOT", "")]
    assert api(two) == [user("h1\nh2")]
    assert text(two) == "^<H>h1</H><H>h2</H><B>"
    bot_first = [turn("BOT", "b0"), turn("HUMAN", "h"), turn("BOT", "")]
    assert api(bot_first) == [assistant("b0"), user("h")]
    assert text(bot_first) == "^<B>b0</B><H>h</H><B>"


def test_a_reserved_role_inside_a_round_is_kept() -> None:
    talk = [turn("SYSTEM", "s"), turn("HUMAN", "{question}"), turn("BOT", "")]
    assert api(talk) == [system("s"), user("q")]
    assert text(talk) == "^<S>s</S><H>q</H><B>"


def test_fallback_inside_a_round() -> None:
    meta = {**TEXT, "reserved_roles": []}
    assert text([turn("SYSTEM", "s", fallback_role="HUMAN"), turn("BOT", "")], meta=meta) == "^<H>s</H><B>"


def test_only_the_last_round_stops() -> None:
    talk = [turn("HUMAN", "1"), turn("BOT", "2"), turn("HUMAN", "3"), turn("BOT", "4")]
    assert text(talk) == "^<H>1</H><B>2</B><H>3</H><B>"
    assert api(talk) == [user("1"), assistant("2"), user("3")]


def test_default_prompts_and_texts_of_the_models_round() -> None:
    meta = {
        "round": [
            "\n",
            {"role": "HUMAN", "begin": "<H>", "prompt": "hello"},
            "~",
            {"role": "BOT", "begin": "<B>", "generate": True},
        ]
    }
    assert text([turn("BOT", "")], meta=meta) == "\n<H>hello~<B>"
    assert text([turn("HUMAN", "{question}")], meta=meta) == "\n<H>q~<B>"


def test_examples_in_the_round_itself() -> None:
    talk = {"round": ["</E>", turn("HUMAN", "{question}"), turn("BOT", "{answer}")]}
    ice = {"round": [turn("HUMAN", "{question}"), turn("BOT", "{answer}")]}
    dataset = spec(legacy(talk, ice_token="</E>"), legacy(ice))
    pool = [{"question": "q0", "answer": "a0"}]
    assert sent(dataset, target(meta_template=API), ROW, pool) == [user("q0"), assistant("a0"), user("q")]
    assert sent(dataset, target("text", meta_template=TEXT), ROW, pool) == "^<H>q0</H><B>a0</B><H>q</H><B>"


def test_messages_become_text_by_the_meta_template() -> None:
    dataset = spec(raw(system("s"), user("{question}")))
    assert sent(dataset, target("text", meta_template=TEXT), ROW) == "^<S>s</S><H>q</H><B>"
    lower = {"round": [{"role": "user", "begin": "U:"}, {"role": "assistant", "begin": "A:", "generate": True}]}
    assert sent(spec(raw(user("{question}"), assistant(""))), target("text", meta_template=lower), ROW) == "U:qA:"
    assert sent(spec(raw(user("{question}"), assistant("So"))), target("text", meta_template=TEXT), ROW) == "^<H>q</H><B>So"
    assert sent(spec(raw(user("{question}"), assistant("b"))), target("text", "ppl", TEXT), ROW) == "^<H>q</H><B>b</B>$"


def test_a_backend_that_takes_both() -> None:
    both = "messages text"
    assert sent(spec(legacy("{question}")), target(both), ROW) == [user("q")]
    assert sent(spec(legacy("{question}")), target(both, "ppl"), ROW) == "q"
    assert sent(spec(raw(user("{question}"))), target(both, "ppl"), ROW) == [user("q")]
    talk = spec(legacy({"round": [turn("HUMAN", "{question}")]}))
    assert sent(talk, target(both, meta_template=API), ROW) == [user("q")]
    assert sent(talk, target(both, meta_template=TEXT), ROW) == "^<H>q</H><B>"


def test_list_form_with_parts_and_slots() -> None:
    parts = [{"type": "image_url", "image_url": {"url": "data:,"}}]
    assert ListMeta([user("Look: ")]).apply([user(parts)]) == [user([{"type": "text", "text": "Look: "}, *parts])]
    with pytest.raises(TemplateError, match="fill an assistant turn"):
        ListMeta([assistant("I")]).apply([user("u"), assistant("")])


@pytest.mark.parametrize(
    ("meta", "messages", "wanted"),
    [
        ([user("m")], [user("1"), assistant("2"), user("3")], [user("m1"), assistant("2"), user("3")]),
        ([user("m"), user("n")], [user("1"), assistant("2"), user("3")], [user("m1"), assistant("2"), user("n3")]),
        ([user("m"), user("n")], [user("1")], [user("m1"), user("n")]),
        ([system("s"), user("m")], [user("1")], [system("s"), user("m1")]),
        ([assistant("a")], [user("1")], [assistant("a"), user("1")]),
        ([system("s")], [], []),
    ],
)
def test_list_form(meta: Json, messages: Json, wanted: Json) -> None:
    assert ListMeta(meta).apply(messages) == wanted


def test_role_markers() -> None:
    assert role_markers(TEXT, "BOT") == ("<B>", "</B>")
    assert role_markers(API, "SYSTEM") == ("", "")
    assert role_markers(TEXT, "CRITIC") is None
    assert role_markers(None, "BOT") is None


@pytest.mark.parametrize(
    ("meta", "accepts", "says"),
    [
        ({"begin": "x"}, "text", "needs a list 'round'"),
        ({"round": "x"}, "text", "needs a list 'round', got 'x'"),
        ({"round": [5]}, "text", r"round\[0\] must be a mapping with a role"),
        ({"round": [{"begin": "x"}]}, "text", r"round\[0\] has no 'role'"),
        ({"round": [{"role": "HUMAN"}, {"role": "HUMAN"}]}, "text", "declares the role 'HUMAN' a second time"),
        ({"round": [{"role": "HUMAN"}], "reserved_roles": [{"role": "HUMAN"}]}, "text", r"reserved_roles\[0\] declares"),
        ({"round": [{"role": "HUMAN"}], "reserved_roles": {}}, "text", "reserved_roles must be a list"),
        ({"round": [{"role": "HUMAN", "begin": ["x", 1]}]}, "text", "role 'HUMAN': begin must be text"),
        ({"round": [], "begin": ["x"]}, "text", "meta_template: begin must be text"),
        ({"round": [{"role": "HUMAN", "apirole": "user"}]}, "text", "has no key 'apirole'; did you mean 'api_role'"),
        ({"rounds": [], "round": []}, "text", "has no key 'rounds'; did you mean 'round'"),
        ({"round": [{"role": "HUMAN"}]}, "messages", "role 'HUMAN' has no api_role"),
        ({"round": [{"role": "HUMAN", "api_role": "critic"}]}, "messages", "has the api_role 'critic'"),
        ({"round": [{"role": "HUMAN", "api_role": "user", "begin": "<"}]}, "messages", "mixes api_role with begin or end"),
        ({**API, "begin": "x"}, "messages", "meta_template.begin is for models that take text"),
        ({"round": ["x", {"role": "HUMAN", "api_role": "user"}]}, "messages", "holds the text 'x'"),
        ([{"role": "tool", "content": "x"}], "messages", r"meta_template\[0\].role must be one of"),
        (["x"], "messages", r"meta_template\[0\] must be a mapping of role and text content"),
        ([{"role": "user"}], "messages", r"meta_template\[0\] must be a mapping"),
        ([{"role": "user", "content": "x"}], "text", "is a list of messages, but the model takes text"),
        ("x", "text", "must be a list of messages or a mapping with 'round'"),
    ],
)
def test_wrong_meta_templates(meta: Json, accepts: str, says: str) -> None:
    with pytest.raises(SpecError, match=says) as caught:
        sent(spec(legacy({"round": [turn("HUMAN", "{question}")]})), target(accepts, meta_template=meta), ROW)
    assert str(caught.value).startswith("model: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("prompt", "accepts", "meta", "says"),
    [
        (raw(user("{question}")), "text", None, "takes text and has no meta_template.*give it a mapping with 'round'"),
        (
            raw(user("{question}")),
            "messages",
            {**API, "round": [*API["round"], {"role": "X", "api_role": "user", "prompt": "p"}]},
            "list",
        ),
        (raw(user([{"type": "text", "text": "x"}])), "text", TEXT, "list of parts"),
        (raw(user("1"), assistant(""), user("2")), "text", TEXT, "multi-turn needs a model that takes messages"),
        (raw(system("s")), "text", {"round": TEXT["round"]}, "no role for 'system' messages"),
        (legacy({"round": [turn("HUMAN", "x")]}), "messages", [system("s")], "PromptTemplate needs a mapping"),
        (legacy("x"), "messages", [system("s")], "PromptTemplate needs a mapping"),
        (legacy({"round": [turn("TOOL", "x")]}), "messages", API, "does not declare the role 'TOOL'"),
        (legacy({"round": [turn("TOOL", "x", fallback_role="CRITIC")]}), "text", TEXT, "'TOOL' nor its fallback_role 'CRITIC'"),
        (legacy({"begin": "free text", "round": [turn("HUMAN", "x")]}), "messages", API, "'free text' stands in a dialogue"),
    ],
)
def test_templates_and_models_that_do_not_go_together(prompt: Json, accepts: str, meta: Json, says: str) -> None:
    with pytest.raises(SpecError, match=says) as caught:
        sent(spec(prompt), target(accepts, meta_template=meta), ROW)
    assert str(caught.value).startswith("demo.infer_cfg.prompt_template: ")
    assert "\n" not in str(caught.value)


def test_under_compat_a_role_that_is_never_sent_needs_no_api_role() -> None:
    meta = {"round": [{"role": "HUMAN", "api_role": "HUMAN"}, {"role": "BOT", "generate": True}]}
    talk = legacy({"round": [turn("HUMAN", "{question}"), turn("BOT", "{answer}")]})
    assert sent(spec(talk, compat="opencompass"), target(meta_template=meta), ROW) == [user("q")]
    with pytest.raises(SpecError, match="the role 'BOT' has the api_role None"):
        sent(spec(talk, compat="opencompass", inferencer="PPLInferencer"), target(mode="ppl", meta_template=meta), ROW)
