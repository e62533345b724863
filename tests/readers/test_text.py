from __future__ import annotations

from pathlib import Path

import pytest

from leaderflow.core.artifacts import samples_of
from leaderflow.core.errors import DataError, UsageError
from readers.text import read_csv, read_json, read_jsonl
from tests.readers.make import dataset, rows, samples


def refused(path: Path) -> str:
    with pytest.raises(UsageError) as caught:
        rows(dataset(path))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("name", "text"), [("a.csv", "question,answer\n1+1?,2\n"), ("a.jsonl", '{"question": "1+1?", "answer": "2"}\n')]
)
def test_a_byte_order_mark_changes_nothing(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / "bom").mkdir()
    plain, marked = write(tmp_path / name, text), write(tmp_path / "bom" / name, b"\xef\xbb\xbf" + text.encode())
    assert samples(dataset(plain)) == samples(dataset(marked)) != []


def test_values_stay_as_they_were_written(tmp_path: Path) -> None:
    values = ['"5"', "5", "5.0", '["a", "b"]', '{"a": 1}', '{"b": null}', "{}", "[]", "null", "918273645546372819090", "true"]
    text = "".join(f'{{"question": "q", "answer": {value}}}\n' for value in values)
    table_rows = samples(dataset(write(tmp_path / "a.jsonl", text)))
    assert samples_of(table_rows).column("row").to_pylist() == text.splitlines()


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "1e999"])
def test_numbers_that_are_no_json_are_refused_with_their_line(tmp_path: Path, value: str) -> None:
    line = f'{{"question": "NaN in a text is fine", "answer": {value}}}\n'
    good = '{"question": "q", "answer": "NaN"}\n'
    assert "a.jsonl:2: " in refused(write(tmp_path / "a.jsonl", good + line))
    assert "a.json:3: " in refused(write(tmp_path / "a.json", f"[\n{good.strip()},\n{line}]"))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{oops}", "not JSON"),
        ("[1]", "must be a JSON object, got list"),
        ('{"question": "cut', "not JSON"),
        ('{"question": "\\ud800"}', "surrogate"),
        ('{"question": "q", "answer": 1, "answer": 2}', "the key 'answer' stands twice"),
        ('{"question": {"a": 1, "a": 1}}', "the key 'a' stands twice"),
        ("[" * 100_000, "cannot be read"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, said: str) -> None:
    message = refused(write(tmp_path / "a.jsonl", f'{{"question": "q", "answer": "1"}}\n\n{line}\n'))
    assert "a.jsonl:3: " in message
    assert said in message


def test_other_encodings_are_refused(tmp_path: Path) -> None:
    assert "a.jsonl:2: not UTF-8" in refused(
        write(tmp_path / "a.jsonl", b'{"question": "a", "answer": "1"}\n{"question": "\xe9"}\n')
    )
    assert "a.csv:2: not UTF-8" in refused(write(tmp_path / "a.csv", b"question,answer\n\xe9,1\n"))
    assert "UTF-16" in refused(write(tmp_path / "b.csv", "question,answer\n".encode("utf-16")))


def test_a_line_break_inside_a_text_ends_no_line(tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", '{"question": "a\u2028b", "answer": "1"}\r\n{"question": "c\u0085d", "answer": "2"}\r\n')
    assert [record.row["question"] for record in read_jsonl(file)] == ["a\u2028b", "c\u0085d"]


def test_json_documents(tmp_path: Path) -> None:
    row = '{"question": "q", "answer": "1"}'
    for text in (f"[{row}]", f'{{"version": 1, "examples": [{row}]}}', f"{row}\n{row}\n"):
        assert next(read_json(write(tmp_path / "a.json", text))).row == {"question": "q", "answer": "1"}
    two = write(tmp_path / "two.json", f'{{"train": [{row}], "test": [{row}, {row}]}}')
    assert len(list(read_json(two, "test"))) == 2
    keyed = write(tmp_path / "keyed.json", f'{{"a": {row}, "b": {row}}}')
    assert [record.row["key"] for record in read_json(keyed)] == ["a", "b"]
    with pytest.raises(DataError, match="keys: train, test"):
        list(read_json(two))
    with pytest.raises(DataError, match=r"cut\.json:1: not JSON"):
        list(read_json(write(tmp_path / "cut.json", f"[{row}")))


def test_csv_fields(tmp_path: Path) -> None:
    text = 'question,answer\r\n"a, ""b"",\nc",1\r\n\r\nplain 5" pipe,\r\n'
    found = [(record.row, record.place.rpartition(":")[2]) for record in read_csv(write(tmp_path / "a.csv", text))]
    assert found == [({"question": 'a, "b",\nc', "answer": "1"}, "2"), ({"question": 'plain 5" pipe', "answer": ""}, "5")]


def test_csv_without_a_header(tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", "q,1\nr,2\n")
    assert rows(dataset(file, columns=["question", "answer"])) == [
        {"question": "q", "answer": "1"},
        {"question": "r", "answer": "2"},
    ]


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ('"never closes,1\nsecond,2\nthird,3\n', 2),
        ('first,1\n"two\nlines","opens\nhere,4\nfive,5\n', 4),
        ('first,1\n"closes"late,2\n', 3),
        ('"a\nb",1\n"c"d,2\n"e",3\n', 4),
    ],
)
def test_an_unclosed_quote_is_named_by_the_line_where_it_opens(tmp_path: Path, body: str, line: int) -> None:
    assert f"a.csv:{line}: a quoted field opens here" in refused(write(tmp_path / "a.csv", "question,answer\n" + body))


def test_rows_of_another_length_are_refused(tmp_path: Path) -> None:
    assert "a.csv:3: 3 fields, but 2 columns" in refused(write(tmp_path / "a.csv", "question,answer\na,1\nb,2,3\n"))
    assert "two columns are named 'x'" in refused(write(tmp_path / "b.csv", "x,x\n1,2\n"))


def test_quotes_are_ordinary_between_tabs(tmp_path: Path) -> None:
    file = write(tmp_path / "a.tsv", 'question\tanswer\n"so" he said\t"1\n')
    assert rows(dataset(file)) == [{"question": '"so" he said', "answer": '"1'}]


def test_long_fields(tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", "question,answer\n" + "x" * 300_000 + ",1\n")
    assert len(rows(dataset(file))[0]["question"]) == 300_000
