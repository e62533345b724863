from __future__ import annotations

import itertools

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderflow.core import identity
from leaderflow.core.artifacts import OUTPUTS, SAMPLES, table_of
from leaderflow.core.errors import DataError
from leaderflow.core.types import Prompt, Settings

ROWS = st.lists(st.tuples(st.text(max_size=8), st.text(max_size=20)), max_size=30)


def samples(rows: list[tuple[str, str]]) -> pa.Table:
    return table_of(SAMPLES, [{"sample_id": i, "row": r} for i, r in rows])


@given(ROWS, st.lists(st.integers(0, 30), max_size=4))
@settings(deadline=None)
def test_digests_of_slices_combine_to_the_digest_of_the_whole(rows: list[tuple[str, str]], borders: list[int]) -> None:
    table = samples(rows)
    cuts = sorted({0, len(rows), *(b for b in borders if b <= len(rows))})
    parts = [table.slice(a, b - a) for a, b in itertools.pairwise(cuts)] or [table]
    assert identity.concat_digests(identity.table_digest(part) for part in parts) == identity.table_digest(table)


@given(ROWS, ROWS)
@settings(deadline=None)
def test_other_rows_or_another_order_give_another_digest(one: list[tuple[str, str]], other: list[tuple[str, str]]) -> None:
    same = identity.table_digest(samples(one)) == identity.table_digest(samples(other))
    assert same == (one == other)


def test_measured_columns_chunks_and_metadata_are_no_part_of_a_digest() -> None:
    row = {"request_key": "k", "sample_id": "s", "part": 0, "repeat": 0, "status": "ok", "output": "7"}
    quick = table_of(OUTPUTS, [{**row, "latency_s": 0.1, "attempts": 1}, row])
    slow = table_of(OUTPUTS, [{**row, "latency_s": 9.9, "attempts": 4, "prompt_tokens": 3}, row])
    chunked = pa.concat_tables([slow.slice(0, 1), slow.slice(1)]).replace_schema_metadata({"a": "b"})
    assert identity.table_digest(quick) == identity.table_digest(slow) == identity.table_digest(chunked)
    other = table_of(OUTPUTS, [{**row, "output": "8"}, row])
    assert identity.table_digest(other) != identity.table_digest(quick)


def test_an_unset_setting_and_an_absent_one_are_the_same_but_zero_is_a_setting() -> None:
    assert identity.settings_json(Settings()) == {}
    assert identity.settings_json(Settings(temperature=0.0)) == {"temperature": 0.0}


CHANGES = {
    "max_out_len": 5,
    "min_out_len": 1,
    "temperature": 0.7,
    "top_p": 0.9,
    "top_k": 3,
    "seed": 1,
    "stop": ("\n",),
    "extra": {"reasoning": "high"},
}


@pytest.mark.parametrize("field", sorted(CHANGES))
def test_every_generation_setting_is_in_the_request_key(field: str) -> None:
    assert set(CHANGES) == set(Settings.__dataclass_fields__), "a new setting needs an entry"
    plain, changed = identity.settings_json(Settings()), identity.settings_json(Settings(**{field: CHANGES[field]}))  # type: ignore[arg-type]
    keys = {identity.request_key("i", "m", s, "generate") for s in (plain, changed)}
    assert len(keys) == 2


def test_model_repeat_occurrence_kind_and_border_are_in_the_request_key() -> None:
    base = ("i", "m", {}, "generate", 0, 0)
    others = [("j", *base[1:]), ("i", "n", *base[2:]), (*base[:3], "loglikelihood", 0, 0), (*base[:4], 1, 0), (*base[:5], 1)]
    assert len({identity.request_key(*parts) for parts in [base, *others]}) == 6
    whole, split = Prompt(text="ab"), Prompt(text="a", continuation="b")
    assert identity.input_key(whole) != identity.input_key(split)


def test_canonical_json_has_one_form_and_refuses_nan() -> None:
    assert identity.canonical_json({"b": 1, "a": "é"}) == '{"a":"é","b":1}'
    with pytest.raises(ValueError, match="Out of range"):
        identity.canonical_json(float("nan"))


def test_first_difference_names_the_place_and_both_values() -> None:
    left = {"stage": "infer", "config": {"settings": {"temperature": 0.0}}}
    right = {"stage": "infer", "config": {"settings": {"temperature": 0.7}}}
    assert identity.first_difference(left, right) == "config.settings.temperature: 0.0 != 0.7"
    assert identity.first_difference(left, left) is None
    assert identity.first_difference([1], [1.0]) == "[0]: 1 != 1.0"


def test_infer_is_versioned_by_hand_and_the_cheap_stages_by_their_source() -> None:
    assert identity.stage_code("infer") == f"v{identity.INFER_VERSION}"
    assert identity.stage_code("render") != identity.stage_code("score")


def test_the_data_of_a_package_are_code_too(tmp_path, monkeypatch) -> None:
    package = tmp_path / "weighing"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "weights.json").write_text('{"a": 1}')
    monkeypatch.syspath_prepend(tmp_path)
    before = identity.source_hash("weighing")
    (package / "__pycache__").mkdir()
    for name in ("x.pyc", "x.cpython-311.pyc.140234"):  # the second while Python writes it
        (package / "__pycache__" / name).write_bytes(b"x")
    identity.source_hash.cache_clear()
    assert identity.source_hash("weighing") == before
    (package / "weights.json").write_text('{"a": 2}')
    identity.source_hash.cache_clear()
    assert identity.source_hash("weighing") != before


def test_a_value_of_another_type_is_named_with_its_column_and_both_types() -> None:
    with pytest.raises(DataError, match=r"column 'row' must be string, got int"):
        table_of(SAMPLES, [{"sample_id": "a", "row": 5}])
