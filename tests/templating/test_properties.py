"""What must hold for any values: none changes another's text, and neither row order nor shard size changes a prompt."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderflow.core.artifacts import EXAMPLES, samples_of, table_of
from templating import stage
from templating.substitute import fill
from tests.templating.build import assistant, legacy, raw, rendered, sent, spec, target, turn, user

TRICKY = st.text(st.sampled_from("{}ab\\ </E>x\n"), max_size=12) | st.sampled_from(["{a}", "{b}", "{{a}}", "</E>", "{answer}", "{"])


@given(TRICKY, TRICKY)
def test_no_value_changes_anothers_text(a: str, b: str) -> None:
    assert fill("<{a}|{b}|{a}>", {"a": a, "b": b}, ("a", "b")) == f"<{a}|{b}|{a}>"


@given(TRICKY, TRICKY, TRICKY)
def test_values_pass_templates_and_examples_unchanged(a: str, b: str, c: str) -> None:
    row, example = {"a": a, "answer": b}, {"a": b, "answer": c}
    chat = spec(raw("</E>", user("<{a}>")), raw(user("<{a}>"), assistant("[{answer}]")), inputs="a")
    assert sent(chat, target(), row, [example]) == [user(f"<{b}>"), assistant(f"[{c}]"), user(f"<{a}>")]
    text = spec(legacy("</E><{a}>", ice_token="</E>"), legacy("<{a}>[{answer}]"), inputs="a")
    assert sent(text, target("text"), row, [example]) == f"<{b}>[{c}]\n<{a}>"
    talk = {"round": [turn("HUMAN", "<{a}>"), turn("BOT", "[{answer}]")]}
    dialogue = spec(legacy({"begin": "</E>", **talk}, ice_token="</E>"), legacy(talk), inputs="a")
    meta = {"round": [{"role": "HUMAN", "end": ";"}, {"role": "BOT", "end": ";", "generate": True}]}
    assert sent(dialogue, target("text", meta_template=meta), row, [example]) == f"<{b}>;[{c}];<{a}>;"


@settings(max_examples=30)
@given(st.lists(st.tuples(TRICKY, TRICKY), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_row_order_changes_no_prompt(values: list[tuple[str, str]], random: object) -> None:
    rows = [{"a": a, "answer": b} for a, b in values]
    shuffled = sorted(rows, key=lambda _: random.random())  # type: ignore[attr-defined]
    dataset, model = spec(raw(user("<{a}>")), inputs="a"), target()
    prompts = {row["a"]: sent(dataset, model, row) for row in rows}
    assert all(sent(dataset, model, row) == prompts[row["a"]] for row in shuffled)
    keys = [sorted((row["input_key"], row["occurrence"]) for row in rendered(dataset, model, order)) for order in (rows, shuffled)]
    assert keys[0] == keys[1]


@settings(max_examples=30)
@given(st.lists(st.sampled_from("ab"), min_size=1, max_size=8), st.integers(1, 8))
def test_shard_size_changes_nothing(values: list[str], size: int) -> None:
    samples = samples_of((f"s{i}", {"a": value, "answer": "x"}) for i, value in enumerate(values))
    pool = samples_of([("t0", {"a": "t", "answer": "y"})])
    examples = table_of(EXAMPLES, [{"sample_id": f"s{i}", "example_ids": ["t0"]} for i in range(len(values))])
    dataset = spec(raw("</E>", user("{a}")), raw(user("{a}"), assistant("{answer}")), inputs="a")
    whole = stage.render(samples, pool, examples, dataset, target())
    prior: dict[str, int] = {}
    parts = []
    for start in range(0, len(values), size):
        part = stage.render(samples.slice(start, size), pool, examples.slice(start, size), dataset, target(), prior=prior)
        for key in part.column("input_key").to_pylist():
            prior[key] = prior.get(key, 0) + 1
        parts.append(part)
    assert pa.concat_tables(parts).to_pylist() == whole.to_pylist()
