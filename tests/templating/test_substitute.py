from __future__ import annotations

import pytest

from leaderflow.core.errors import TemplateError
from templating.substitute import fill, replace_literally, shown


def filled(text: str, **row: object) -> str:
    return fill(text, row, tuple(row))


@pytest.mark.parametrize(
    ("text", "shows"),
    [
        ("{q}", "Q"),
        ("{{}}", "{}"),
        (r"\boxed{{}}", r"\boxed{}"),
        (r"\boxed{}", r"\boxed{}"),
        ("{{q}}", "{q}"),
        ("{{{q}}}", "{Q}"),
        ('{{"q": "{q}"}}', '{"q": "Q"}'),
        ('{"q": {"a": "{q}"}}', '{"q": {"a": "Q"}}'),
        ("{{ {q} } }", "{{ Q } }"),
        ("} {q} {", "} Q {"),
        (r"\frac{a}{b}{q}", r"\frac{a}{b}Q"),
        (r"\sqrt[3]{x} and \text{q}", r"\sqrt[3]{x} and \textQ"),
        ("{1,2} {a b} {}", "{1,2} {a b} {}"),
        ("{题目}", "你好"),
        ("{a column}", "C"),
        ("no braces", "no braces"),
        ("", ""),
    ],
)
def test_native(text: str, shows: str) -> None:
    assert filled(text, q="Q", 题目="你好", **{"a column": "C"}) == shows


def test_a_value_is_never_scanned_again() -> None:
    assert filled("{a} {b}", a="{b} {{}} {zzz}", b="{a}") == "{b} {{}} {zzz} {a}"


@pytest.mark.parametrize("text", ["{qestion}", "x_{qestion}", "{question} {qestion}", r"\{qestion}"])
def test_a_misspelt_name_is_an_error_naming_it(text: str) -> None:
    with pytest.raises(TemplateError, match=r"\{qestion\} names no column; did you mean 'question'\?"):
        filled(text, question="x")


def test_the_answer_column_is_refused_with_two_remedies() -> None:
    with pytest.raises(TemplateError, match=r"\{a\} is the output_column.*ice_template, or let `prepare`"):
        fill("{a}", {"a": "1"}, ("a",), hidden="a")


@pytest.mark.parametrize(
    ("value", "text"),
    [(3, "3"), (3.0, "3.0"), (True, "True"), (10**30, str(10**30)), (["é", 1], '["é", 1]'), ({"a": None}, '{"a": null}'), ("", "")],
)
def test_values(value: object, text: str) -> None:
    assert shown(value, "c") == text


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(TemplateError, match="column 'q' has no value"):
        filled("{q}", q=None)


def test_literal_replacement_goes_column_after_column() -> None:
    assert replace_literally("{p} {{p}} {x}", {"p": "{q}", "q": 1}) == "1 {1} {x}"
    assert replace_literally("{p}", {"q": 1, "p": "{q}"}) == "{q}"
    assert replace_literally("{p} {q}", {"p": None, "q": ["a"]}) == "None ['a']"
