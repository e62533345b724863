from __future__ import annotations

from pathlib import Path

import pytest

from leaderflow.core.errors import SpecError
from leaderflow.core.yaml import Located, Place, load_yaml, parse_yaml


def test_values_are_yaml_1_2_with_text_keys() -> None:
    text = "a: no\nb: 1e3\nc: [1, 2.5, ~, 2024-01-01, 010, 0x1f, true]\n0: x\nyes: y\n"
    assert parse_yaml(text, "f").value == {
        "a": "no",
        "b": 1000.0,
        "c": [1, 2.5, None, "2024-01-01", 10, 31, True],
        "0": "x",
        "yes": "y",
    }


def test_an_error_names_file_line_and_key() -> None:
    located = parse_yaml("a:\n  b:\n    - x\n    - y: 1\n", "f.yaml")
    assert str(located.error("wrong", "a", "b", 1, "y")) == "f.yaml:4: a.b[1].y: wrong"
    assert str(located.error("missing", "a", "b", 1, "z")) == "f.yaml:4: a.b[1].z: missing"
    assert str(located.at("a", "b").error("wrong", 0)) == "f.yaml:3: a.b[0]: wrong"


def test_merge_keys_and_anchors() -> None:
    located = parse_yaml("base: &b {x: 1, y: {z: 2}}\nuse:\n  <<: *b\n  x: 3\n", "f")
    assert located.value["use"] == {"x": 3, "y": {"z": 2}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1", "f:1: is not YAML"),
        ("a: 1\nb: 2\na: 3", "f:3: a: the key stands twice"),
        ("a:\n  b: .nan", "f:2: .nan is not a finite number"),
        ("a: 1e999", "f:1: 1e999 is not a finite number"),
        ("a: !py/object x", "f:1: the tag !py/object means nothing"),
        ("r: &x [*x]", "f: a value holds itself"),
        ("? [a]\n: b", "f:1: a key must be plain text"),
        ("a: 1\n---\nb: 2", "f:2: is not YAML"),
        ("a: \x07", "f: is not YAML"),
    ],
)
def test_bad_yaml_is_one_clean_line(text: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_yaml(text, "f")
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_files_that_hold_no_mapping(tmp_path: Path) -> None:
    for text, what in (("- a\n", "a list"), ("", "nothing"), ("x", "text")):
        (tmp_path / "f.yaml").write_text(text)
        with pytest.raises(SpecError, match=f"not {what}"):
            load_yaml(tmp_path / "f.yaml")
    (tmp_path / "f.yaml").write_bytes(b"a: \xff")
    with pytest.raises(SpecError, match="not UTF-8"):
        load_yaml(tmp_path / "f.yaml")
    with pytest.raises(SpecError, match="no such file"):
        load_yaml(tmp_path / "absent.yaml")


def test_merging_keeps_both_places_and_another_type_replaces() -> None:
    base = parse_yaml("r: {type: A, k: 5}\nq: {x: 1, y: 2}\n", "base")
    over = parse_yaml("r:\n  type: B\nq:\n  y: 3\n", "over")
    merged = base.merged(over)
    assert merged.value == {"r": {"type": "B"}, "q": {"x": 1, "y": 3}}
    assert str(merged.error("!", "q", "x")) == "base:2: q.x: !"
    assert str(merged.error("!", "q", "y")) == "over:4: q.y: !"


def test_moved_keys_keep_their_place() -> None:
    located = Located({"a": {"n": 1}, "b": 2}, {("a", "n"): Place("f", 7, ("a", "n")), (): Place("f", 1)})
    moved = located.moved(["a"], "arguments")
    assert moved.value == {"b": 2, "arguments": {"a": {"n": 1}}}
    assert str(moved.error("!", "arguments", "a", "n")) == "f:7: a.n: !"


def test_aliases_that_multiply_and_deep_nesting_are_refused() -> None:
    levels = ["a0: &a0 [" + "x, " * 10 + "]"] + [f"a{i}: &a{i} [" + f"*a{i - 1}, " * 10 + "]" for i in range(1, 12)]
    with pytest.raises(SpecError, match="aliases inside aliases multiply"):
        parse_yaml("\n".join(levels), "f.yaml")
    with pytest.raises(SpecError, match="nested too deeply"):
        parse_yaml("[" * 3000, "f.yaml")
