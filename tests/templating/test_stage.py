from __future__ import annotations

import logging

import pyarrow as pa
import pytest

from leaderflow.core.artifacts import EXAMPLES, PROMPTS, table_of
from leaderflow.core.errors import DataError, SpecError, TemplateError
from leaderflow.core.identity import canonical_json, input_key
from leaderflow.core.types import Json, Prompt, Row
from templating import stage
from tests.templating.build import assistant, legacy, raw, rendered, sent, spec, table, target, turn, user

ROW: Row = {"question": "q", "answer": "a"}
ASK = raw(user("{question}"))
ICE = raw(user("{question}"), assistant("{answer}"))


def test_messages_are_canonical_json_and_hashed() -> None:
    samples = table([{"question": "é", "answer": "a"}])
    chosen = table_of(EXAMPLES, [{"sample_id": "s0", "example_ids": []}])
    row = stage.render(samples, table([]), chosen, spec(ASK), target()).to_pylist()[0]
    assert row["messages"] == canonical_json([user("é")]) == '[{"content":"é","role":"user"}]'
    assert row["input_key"] == input_key(Prompt(messages=(user("é"),)))  # type: ignore[arg-type]


def test_no_samples_give_an_empty_table() -> None:
    empty = stage.render(table([]), table([]), table_of(EXAMPLES, []), spec(ASK), target())
    assert (empty.num_rows, empty.schema) == (0, PROMPTS)


def test_occurrence_goes_on_from_earlier_shards() -> None:
    first = rendered(spec(ASK), target(), [ROW, ROW])
    later = rendered(spec(ASK), target(), [ROW, {**ROW, "question": "other"}], prior={first[0]["input_key"]: 2})
    assert [row["occurrence"] for row in [*first, *later]] == [0, 1, 2, 0]


def test_labels_stand_sample_by_sample() -> None:
    dataset = spec(legacy({"yes": "{question} yes", "no": "{question} no"}), inferencer="PPLInferencer")
    found = rendered(dataset, target("text", "ppl"), [ROW, {**ROW, "question": "r"}], labels=["no", "yes"])
    assert [(row["sample_id"], row["label"], row["text"]) for row in found] == [
        ("s0", "no", "q no"),
        ("s0", "yes", "q yes"),
        ("s1", "no", "r no"),
        ("s1", "yes", "r yes"),
    ]


def test_generation_with_a_label_map_uses_the_first() -> None:
    assert sent(spec(legacy({"yes": "{question} yes", "no": "{question} no"})), target("text"), ROW) == "q yes"


def test_examples_of_a_label_map_use_their_own_label() -> None:
    template = {"A": "</E>{question} is A", "B": "</E>{question} is B"}
    dataset = spec(
        legacy(template, ice_token="</E>"), legacy({"A": "{question}: A", "B": "{question}: B"}), inferencer="PPLInferencer"
    )
    pool = [{"question": "x", "answer": "B"}, {"question": "y", "answer": "A"}]
    got = sent(dataset, target("text", "ppl"), ROW, pool, labels=["A", "B"])
    assert got == ["x: B\ny: A\nq is A", "x: B\ny: A\nq is B"]


def test_separators_of_text_examples() -> None:
    prompt = legacy("Do it.\n</E>{question}", ice_token="</E>")
    fix = {"type": "FixKRetriever", "fix_id_list": [0, 1]}
    pool = [{"question": "x", "answer": "1"}, {"question": "y", "answer": "2"}]
    dataset = spec(prompt, legacy("{question}={answer}"), retriever=fix)
    assert sent(dataset, target("text"), ROW, pool) == "Do it.\nx=1\ny=2\nq"
    other = spec(prompt, legacy("{question}={answer}"), retriever={**fix, "ice_separator": "; ", "ice_eos_token": "."})
    assert sent(other, target("text"), ROW, pool) == "Do it.\nx=1; y=2.q"
    assert rendered(dataset, target("text"), [ROW], pool, shots=0)[0]["text"] == "Do it.\nq"


def test_the_ice_template_alone_serves_as_the_prompt() -> None:
    ice = legacy("</E>{question}={answer}", ice_token="</E>")
    dataset = spec(None, ice)
    assert sent(dataset, target("text"), ROW, [{"question": "x", "answer": "1"}]) == "x=1\nq="


def test_sep_token_is_left_out() -> None:
    assert sent(spec(legacy("a[SEP]{question}", sep_token="[SEP]")), target("text"), ROW) == "aq"


def test_values_show_as_they_are() -> None:
    row = {"question": 3.0, "options": ["é", 1], "n": 10**20, "answer": "a"}
    dataset = spec(legacy("{question} {options} {n}"), inputs="question options n")
    assert sent(dataset, target("text"), row) == '3.0 ["é", 1] 100000000000000000000'


def test_a_token_in_a_value_takes_no_examples() -> None:
    dataset = spec(legacy("</E>{question}", ice_token="</E>"), legacy("{question}={answer}"))
    row = {"question": "</E> {answer}", "answer": "a"}
    assert sent(dataset, target("text"), row, [{"question": "{question}", "answer": "1"}]) == "{question}=1\n</E> {answer}"


def test_a_column_beside_input_columns_is_used_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert sent(spec(legacy("{hint_unlisted} {question}")), target("text"), {**ROW, "hint_unlisted": "h"}) == "h q"
    assert "the prompt shows column 'hint_unlisted'" in caplog.text


def test_labels() -> None:
    samples = table([{"question": "q", "answer": "B"}, {"question": "r", "answer": "A"}, {"question": "s", "answer": None}])
    mapped = spec(legacy({"B": "b", "A": "a"}), inferencer="PPLInferencer")
    assert stage.labels(mapped, samples, None) == ["B", "A"]
    assert stage.labels(mapped, samples, ["A", "B"]) == ["A", "B"]
    assert stage.labels(spec(legacy("x"), inferencer="PPLInferencer"), samples, None) == ["A", "B"]
    numbers = spec(legacy({0: "b", 1: "a"}), inferencer="PPLInferencer")
    assert stage.labels(numbers, table([{"question": "q", "answer": 1}]), None) == ["0", "1"]


def test_labels_that_do_not_cover_the_references() -> None:
    samples = table([{"question": "q", "answer": "C"}])
    dataset = spec(legacy({"A": "a", "B": "b"}), inferencer="PPLInferencer")
    with pytest.raises(DataError, match=r"demo: the reference 'C' in column 'answer' is no label \('A', 'B'\)"):
        stage.labels(dataset, samples, None)
    with pytest.raises(SpecError, match=r"demo.infer_cfg.inferencer.labels: label 'Z' is not in the template"):
        stage.labels(dataset, samples, ["Z"])


def test_config_names_what_changes_the_prompts_and_nothing_else() -> None:
    one = spec(ASK, retriever={"type": "FixKRetriever", "fix_id_list": [0]}, ice=ICE)
    other = spec(ASK, retriever={"type": "RandomRetriever", "ice_num": 1}, ice=ICE)
    assert stage.config(one, target(), None) == stage.config(other, target(), None)
    assert stage.config(one, target(), None) == stage.config(one, target(max_seq_len=9), None)
    changes: list[Json] = [
        stage.config(spec(raw(user("{question} ")), ICE), target(), None),
        stage.config(one, target(mode="ppl"), None),
        stage.config(one, target(meta_template=[user("x")]), None),
        stage.config(one, target("text"), None),
        stage.config(one, target(), ["A"]),
        stage.config(spec(ASK, ICE, compat="opencompass"), target(), None),
        stage.config(spec(ASK, ICE, answer="other"), target(), None),
        stage.config(spec(ASK, ICE, retriever={"type": "FixKRetriever", "fix_id_list": [0], "ice_eos_token": ""}), target(), None),
    ]
    texts = {canonical_json(config) for config in [stage.config(one, target(), None), *changes]}
    assert len(texts) == 1 + len(changes)
    canonical_json(stage.config(spec(legacy({0: "b", "a": "c"})), target(), None))


def test_examples_must_be_those_of_the_samples() -> None:
    other = table_of(EXAMPLES, [{"sample_id": "s9", "example_ids": []}])
    with pytest.raises(DataError, match="not of these samples"):
        stage.render(table([ROW]), table([]), other, spec(ASK), target())


@pytest.mark.parametrize(
    ("prompt", "ice", "retriever", "says"),
    [
        (raw(), None, None, "demo.infer_cfg.prompt_template: messages is empty"),
        ({"type": "RawPromptTemplate"}, None, None, "prompt_template: RawPromptTemplate needs the argument 'messages'"),
        (
            raw({"role": "HUMAN", "content": "x"}),
            None,
            None,
            r"messages\[0\].role must be one of system, user, assistant, got 'HUMAN'",
        ),
        (raw({"role": "user"}), None, None, r"messages\[0\] has no 'content'"),
        (raw({"content": "x"}), None, None, r"messages\[0\] has no 'role'"),
        (raw(5), None, None, r"messages\[0\] must be a mapping or the ice_token"),
        (raw(user(5)), None, None, r"messages\[0\].content must be text or a list of parts, got 5"),
        (raw(user("x"), "</e>"), None, None, r"messages\[1\] is the text '</e>', which is not the ice_token '</E>'"),
        (raw({"expand_column": "h", "role": "user"}), None, None, r"messages\[0\] must hold expand_column"),
        ({"type": "RawPromptTemplate", "messages": "x"}, None, None, "messages must be a list, got str 'x'"),
        ({"type": "RawPromptTemplat", "messages": []}, None, None, "did you mean 'RawPromptTemplate'"),
        ({"type": "PromptTemplate", "prompt": "x"}, None, None, "has no argument 'prompt'"),
        (legacy(5), None, None, "template must be text or a mapping, got 5"),
        (legacy({}), None, None, "template has no 'round'"),
        (legacy({"begin": "x"}), None, None, "template has no 'round'"),
        (legacy({"A": 5}), None, None, "template.A must be text, a list of turns, or a mapping"),
        (legacy({"round": [{"prompt": "x"}]}), None, None, r"template.round\[0\] must be text or a turn with a role"),
        (legacy({"round": [turn("HUMAN", 5)]}), None, None, r"template.round\[0\].prompt must be text, got 5"),  # type: ignore[arg-type]
        (legacy("x", ice_token=5), None, None, "ice_token must be text, got 5"),
        (legacy("x", ice_token="</E>"), legacy("y"), None, "prompt_template: the ice_token '</E>' occurs nowhere in template"),
        (legacy({"A": "</E>", "B": "x"}, ice_token="</E>"), None, None, "occurs nowhere in template.B"),
        (legacy({"round": [turn("HUMAN", "x")]}, ice_token="</E>"), None, None, "occurs nowhere in template"),
        (legacy("x"), legacy("y"), None, "the examples have no place: the ice_token stands nowhere in prompt_template"),
        (ASK, ICE, None, "the examples have no place"),
        (raw("</E>", user("x")), legacy("y"), None, "ice_template and prompt_template must be of one type"),
        (raw("</E>", user("x")), None, {"type": "FixKRetriever", "fix_id_list": [0]}, "there is no ice_template"),
    ],
)
def test_wrong_templates(prompt: Json, ice: Json, retriever: Json, says: str) -> None:
    dataset = spec(prompt, ice, retriever=retriever)
    with pytest.raises(SpecError, match=says) as caught:
        stage.check(dataset, target("messages text"), key="demo")
    assert str(caught.value).startswith("demo.infer_cfg")
    assert "\n" not in str(caught.value)


def test_an_unknown_retriever_argument() -> None:
    dataset = spec(raw("</E>", user("x")), ICE, retriever={"type": "FixKRetriever", "fix_ids": [0]})
    with pytest.raises(SpecError, match=r"datasets\[0\].infer_cfg.retriever: FixKRetriever has no argument 'fix_ids'"):
        stage.check(dataset, target(), key="datasets[0]")


@pytest.mark.parametrize("prompt", [legacy("{question}"), ASK, legacy({"round": [turn("HUMAN", "{question}")]})])
def test_candidates_that_all_read_the_same_are_refused(prompt: Json) -> None:
    with pytest.raises(SpecError, match="PPLInferencer compares candidates"):
        stage.check(spec(prompt, inferencer="PPLInferencer"), target("messages text", "ppl"), key="demo")


WITH_EXAMPLES = raw("</E>", user("{question}"))


@pytest.mark.parametrize(
    ("prompt", "ice", "row", "says"),
    [
        (
            raw(user("{qestion}")),
            None,
            ROW,
            r"demo: infer_cfg.prompt_template: sample s0: \{qestion\} names no column; did you mean",
        ),
        (raw(user("{answer}")), None, ROW, r"\{answer\} is the output_column"),
        (raw(user("{question}")), None, {"question": None, "answer": "a"}, "column 'question' has no value"),
        (raw({"expand_column": "h"}), None, ROW, "expand_column 'h' is no column of the row"),
        (raw({"expand_column": "question"}), None, ROW, "expand_column 'question' must hold a list of messages, got str"),
        (
            raw({"expand_column": "question"}),
            None,
            {**ROW, "question": [{"role": "tool", "content": "x"}]},
            "holds {'role': 'tool'",
        ),
        (raw({"expand_column": "question"}), None, {**ROW, "question": []}, "no message is left"),
        (raw({"expand_column": "answer"}), None, {**ROW, "answer": [user("x")]}, r"\{answer\} is the output_column"),
        (WITH_EXAMPLES, raw(user("{colour}")), ROW, r"demo: infer_cfg.ice_template: sample s0: \{colour\} names no column"),
    ],
)
def test_rows_that_do_not_fit_the_template(prompt: Json, ice: Json, row: Row, says: str) -> None:
    with pytest.raises(TemplateError, match=says) as caught:
        sent(spec(prompt, ice), target(), row, [ROW] if ice else [])
    assert "\n" not in str(caught.value)


def test_an_example_out_of_the_pool() -> None:
    chosen = table_of(EXAMPLES, [{"sample_id": "s0", "example_ids": ["t7"]}])
    with pytest.raises(DataError, match=r"demo: infer_cfg.ice_template: sample s0: the example 't7' is not in the pool of 1 rows"):
        stage.render(table([ROW]), table([ROW]), chosen, spec(WITH_EXAMPLES, ICE), target())


def test_the_answer_shows_in_perplexity_only_by_an_error() -> None:
    dataset = spec(legacy({"A": "{question} {answer} A", "B": "{question} {answer} B"}), inferencer="PPLInferencer")
    with pytest.raises(TemplateError, match=r"\{answer\} is the output_column"):
        sent(dataset, target("text", "ppl"), ROW, labels=["A", "B"])


def test_schema() -> None:
    samples, chosen = table([ROW]), table_of(EXAMPLES, [{"sample_id": "s0", "example_ids": []}])
    prompts: pa.Table = stage.render(samples, table([]), chosen, spec(ASK), target())
    assert prompts.schema == PROMPTS


def test_an_input_column_that_the_rows_lack_is_named() -> None:
    dataset = spec(ASK)
    wrong = dataset.model_copy(update={"reader_cfg": dataset.reader_cfg.model_copy(update={"input_columns": ["qestion"]})})
    with pytest.raises(DataError, match=r"'qestion', which the rows do not have; did you mean 'question'\?"):
        rendered(wrong, target(), [ROW])
