r"""Every example of the documents gives the documented input."""

from __future__ import annotations

from leaderflow.core.types import Json
from tests.templating.build import assistant, legacy, raw, rendered, sent, spec, system, target, turn, user

API_META = {
    "round": [{"role": "HUMAN", "api_role": "user"}, {"role": "BOT", "api_role": "assistant", "generate": True}],
    "reserved_roles": [{"role": "SYSTEM", "api_role": "system"}],
}
TEXT_META = {
    "begin": "Meta instruction: You are a helpful assistant.\n",
    "round": [
        {"role": "HUMAN", "begin": "<HUMAN>: ", "end": "<eoh>\n"},
        {"role": "BOT", "begin": "<BOT>: ", "end": "<eob>\n", "generate": True},
    ],
    "reserved_roles": [{"role": "SYSTEM", "begin": "<SYSTEM>: ", "end": "<eosys>\n"}],
}
DIALOGUE = {
    "begin": [turn("SYSTEM", "You are a helpful assistant.", fallback_role="HUMAN")],
    "round": [turn("HUMAN", "Question: {question}"), turn("BOT", "Answer: {answer}")],
    "end": [],
}
ROW = {"question": "1+1?", "answer": "2"}


def test_basic_usage_shows_single_braces() -> None:
    prompt = raw(system("You are a helpful assistant."), user("{problem}\nPut the final answer in \\boxed{{}}."))
    got = sent(spec(prompt, inputs="problem"), target(), {"problem": "What is 1+1?", "answer": "2"})
    assert got == [
        system("You are a helpful assistant."),
        user("What is 1+1?\nPut the final answer in \\boxed{}."),
    ]


def test_expand_column_inserts_the_conversation_with_its_slots() -> None:
    dialogue = [user("Write about {x}."), assistant(""), user("More formal."), assistant("")]
    prompt = raw({"expand_column": "dialogue"}, format_variables=False)
    assert sent(spec(prompt, inputs="dialogue", answer="reference"), target(), {"dialogue": dialogue, "reference": ""}) == dialogue


def test_examples_replace_the_token_as_message_groups() -> None:
    prompt = raw(system("Answer directly."), "</E>", user("Query: {input}"))
    ice = raw(user("Query: {input}"), assistant("{output}"))
    dataset = spec(prompt, ice, inputs="input", answer="output")
    got = sent(dataset, target(), {"input": "acid?", "output": "B"}, [{"input": "gas?", "output": "A"}])
    assert got == [system("Answer directly."), user("Query: gas?"), assistant("A"), user("Query: acid?")]


def test_legacy_dialogue_without_meta_template_is_joined_and_the_answer_blank() -> None:
    text = "You are a helpful assistant.\nQuestion: 1+1?\nAnswer: "
    assert sent(spec(legacy(DIALOGUE)), target(), ROW) == [user(text)]
    assert sent(spec(legacy(DIALOGUE)), target("text"), ROW) == text


def test_legacy_dialogue_for_an_api_in_both_spellings() -> None:
    upper = {
        "round": [{"role": "HUMAN", "api_role": "HUMAN"}, {"role": "BOT", "api_role": "BOT", "generate": True}],
        "reserved_roles": [{"role": "SYSTEM", "api_role": "SYSTEM"}],
    }
    for meta in (API_META, upper):
        got = sent(spec(legacy(DIALOGUE)), target(meta_template=meta), ROW)
        assert got == [system("You are a helpful assistant."), user("Question: 1+1?")]


def test_fallback_role_where_system_is_not_declared() -> None:
    got = sent(spec(legacy(DIALOGUE)), target(meta_template={"round": API_META["round"]}), ROW)
    assert got == [user("You are a helpful assistant.\nQuestion: 1+1?")]


def test_text_model_stops_where_the_model_begins() -> None:
    got = sent(spec(legacy(DIALOGUE)), target("text", meta_template=TEXT_META), ROW)
    assert got == (
        "Meta instruction: You are a helpful assistant.\n"
        "<SYSTEM>: You are a helpful assistant.<eosys>\n<HUMAN>: Question: 1+1?<eoh>\n<BOT>: "
    )


def test_perplexity_has_one_complete_input_for_each_label() -> None:
    options = "Question: {question}\nA. {A}\nB. {B}\nAnswer: "
    dataset = spec(legacy({"A": options + "A", "B": options + "B"}), inferencer="PPLInferencer")
    row = {"question": "1+1?", "A": "2", "B": "3", "answer": "A"}
    got = sent(dataset, target("text", "ppl"), row, labels=["A", "B"])
    assert got == ["Question: 1+1?\nA. 2\nB. 3\nAnswer: A", "Question: 1+1?\nA. 2\nB. 3\nAnswer: B"]


def test_perplexity_keeps_the_candidate_turn() -> None:
    def candidate(option: str) -> Json:
        return {"round": [turn("HUMAN", "{question}"), turn("BOT", f"{{{option}}}")]}

    dataset = spec(legacy({"A": candidate("A"), "B": candidate("B")}), inferencer="PPLInferencer")
    row = {"question": "1+1?", "A": "2", "B": "3", "answer": "A"}
    got = sent(dataset, target(mode="ppl", meta_template=API_META), row, labels=["A", "B"])
    assert got == [[user("1+1?"), assistant("2")], [user("1+1?"), assistant("3")]]
    text = sent(dataset, target("text", "ppl", {**TEXT_META, "end": "<done>"}), row, labels=["A", "B"])
    assert text[0] == "Meta instruction: You are a helpful assistant.\n<HUMAN>: 1+1?<eoh>\n<BOT>: 2<eob>\n<done>"


def test_few_shot_dialogues() -> None:
    round_ = [turn("HUMAN", "Question: {question}"), turn("BOT", "Answer: {answer}")]
    begin = [turn("SYSTEM", "Answer the following questions.", fallback_role="HUMAN"), "</E>"]
    dataset = spec(legacy({"begin": begin, "round": round_}, ice_token="</E>"), legacy({"round": round_}))
    pool = [{"question": "2+2?", "answer": "4"}, {"question": "3+3?", "answer": "6"}]
    assert sent(dataset, target(meta_template=API_META), ROW, pool) == [
        system("Answer the following questions."),
        user("Question: 2+2?"),
        assistant("Answer: 4"),
        user("Question: 3+3?"),
        assistant("Answer: 6"),
        user("Question: 1+1?"),
    ]
    text = sent(dataset, target("text", meta_template=TEXT_META), ROW, pool[:1])
    assert text.endswith("<HUMAN>: Question: 2+2?<eoh>\n<BOT>: Answer: 4<eob>\n<HUMAN>: Question: 1+1?<eoh>\n<BOT>: ")


def test_list_meta_template_is_put_before_or_inserted() -> None:
    meta = [system("Answer concisely and put the final answer last.\n")]
    both = spec(raw(system("Solve the following problem."), user("{question}")))
    assert sent(both, target(meta_template=meta), ROW) == [
        system("Answer concisely and put the final answer last.\nSolve the following problem."),
        user("1+1?"),
    ]
    assert sent(spec(raw(user("{question}"))), target(meta_template=meta), ROW) == [*meta, user("1+1?")]


def test_without_meta_template_messages_stay_as_they_are() -> None:
    messages = [system("s"), user("u"), assistant("a"), user("{question}")]
    assert sent(spec(raw(*messages)), target(), ROW) == [*messages[:3], user("1+1?")]


def test_json_in_a_template_is_text() -> None:
    prompt = legacy('{question}\nReturn {"grade": "C"} or {"grade": "I"}, as \\boxed{}.')
    got = sent(spec(prompt), target("text"), ROW)
    assert got == '1+1?\nReturn {"grade": "C"} or {"grade": "I"}, as \\boxed{}.'


def test_columns_of_a_prompt() -> None:
    row = rendered(spec(raw(user("{question}"))), target(), [ROW, ROW])[1]
    assert row["occurrence"] == 1
    assert row["label"] is None
    assert (row["part"], row["status"], row["dropped_examples"], row["continuation"]) == (0, "ok", 0, None)
