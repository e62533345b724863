"""Zero, FixK and SlidingWindow: positions in the pool's own order."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from leaderflow.core.errors import DataError, SpecError
from leaderflow.core.types import Capability, Row
from templating.retrieval import needs, retrieve
from tests.templating.retrievers.specs import dataset, ids, question, table

POOL = table(*[question(f"train {n}", str(n)) for n in range(5)], prefix="p")
SAMPLES = table(*[question(f"test {n}", str(n)) for n in range(3)], prefix="s")


def test_zero_chooses_nothing_even_without_a_pool() -> None:
    examples = retrieve(SAMPLES, POOL.slice(0, 0), dataset({"type": "ZeroRetriever"}))
    assert examples.column("sample_id").to_pylist() == ["s0", "s1", "s2"]
    assert ids(examples) == [[], [], []]


def test_fixk_keeps_the_written_order() -> None:
    assert ids(retrieve(SAMPLES, POOL, dataset({"type": "FixKRetriever", "fix_id_list": [3, 0]}))) == [["p3", "p0"]] * 3


def test_fixk_leaves_a_sample_without_itself_and_without_its_question() -> None:
    pool = table(question("a", "1"), question("b", "2"), question("a", "another answer"), prefix="p")
    samples = table(question("a", "1"), question("c", "3"), prefix="s")
    spec = dataset({"type": "FixKRetriever", "fix_id_list": [0, 1, 2]})
    assert ids(retrieve(samples, pool, spec)) == [["p1"], ["p0", "p1", "p2"]]
    assert ids(retrieve(pool, pool, spec)) == [["p1"], ["p0", "p2"], ["p1"]]


@pytest.mark.parametrize(
    ("positions", "error"), [([5], "row 5 is out of the pool, which has 5 rows"), ([0, -1], "counts from 0, got -1")]
)
def test_fixk_refuses_positions_out_of_the_pool(positions: list[int], error: str) -> None:
    with pytest.raises((DataError, SpecError), match=error):
        retrieve(SAMPLES, POOL, dataset({"type": "FixKRetriever", "fix_id_list": positions}))


@pytest.mark.parametrize("positions", ["01", ["0"], [True], [1.0], 3])
def test_fixk_wants_a_list_of_positions(positions: object) -> None:
    with pytest.raises(SpecError, match="fix_id_list must be a list of row positions"):
        retrieve(SAMPLES, POOL, dataset({"type": "FixKRetriever", "fix_id_list": positions}))


def test_compat_fixk_counts_negative_positions_from_the_end_and_keeps_the_sample() -> None:
    spec = dataset({"type": "FixKRetriever", "fix_id_list": [-1, 0]}, compat=True)
    assert ids(retrieve(POOL, POOL, spec))[0] == ["p4", "p0"]
    with pytest.raises(DataError, match="example -6 is out of the pool"):
        retrieve(POOL, POOL, dataset({"type": "FixKRetriever", "fix_id_list": [-6]}, compat=True))


def test_the_window_goes_round_at_the_start() -> None:
    spec = dataset({"type": "SlidingWindowRetriever", "k": 2})
    assert ids(retrieve(POOL, POOL, spec)) == [["p3", "p4"], ["p4", "p0"], ["p0", "p1"], ["p1", "p2"], ["p2", "p3"]]


def test_the_window_of_a_sample_does_not_depend_on_the_selection() -> None:
    spec = dataset({"type": "SlidingWindowRetriever", "k": 2})
    assert ids(retrieve(POOL.slice(2, 2), POOL, spec)) == ids(retrieve(POOL, POOL, spec))[2:4]


def test_the_window_steps_over_twins() -> None:
    pool = table(question("a"), question("b"), question("c"), question("b"), prefix="p")
    assert ids(retrieve(pool, pool, dataset({"type": "SlidingWindowRetriever", "k": 2})))[3] == ["p0", "p2"]


def test_the_window_must_fit_the_pool() -> None:
    with pytest.raises(
        DataError, match=r"sample 'p0' needs 5 examples, but only 4 rows of the pool can serve \(1 more: the sample itself"
    ):
        retrieve(POOL, POOL, dataset({"type": "SlidingWindowRetriever", "k": 5}))


def test_compat_window_is_over_test_positions() -> None:
    spec = dataset({"type": "SlidingWindowRetriever", "k": 2}, compat=True)
    assert ids(retrieve(SAMPLES, POOL, spec)) == [["p3", "p4"], ["p4", "p0"], ["p0", "p1"]]


@pytest.mark.parametrize(
    ("retriever", "error"),
    [
        ({"type": "FixKRetriever"}, "FixKRetriever needs the argument 'fix_id_list'"),
        ({"type": "ZeroRetriever", "ice_num": 3}, "ZeroRetriever has no argument 'ice_num'"),
        ({"type": "RandomRetriever", "ice_nun": 3}, "did you mean 'ice_num'"),
        ({"type": "TopKRetriever"}, "did you mean 'TopkRetriever'"),
        ({"type": "RandomRetriever", "context": 3}, "has no argument 'context'"),
    ],
)
def test_a_wrong_configuration_names_its_key(retriever: dict[str, object], error: str) -> None:
    with pytest.raises(SpecError, match=f"infer_cfg.retriever.*{error}"):
        needs(dataset(retriever))


@pytest.mark.parametrize("value", [-1, 1.5, "3", True, None])
def test_the_number_of_examples_is_a_whole_number(value: object) -> None:
    with pytest.raises(SpecError, match="ice_num must be a whole number from 0"):
        retrieve(SAMPLES, POOL, dataset({"type": "RandomRetriever", "ice_num": value}))


class Longest:
    """A retriever of the user's own: the rows with the longest answers, for every sample."""

    needs: frozenset[Capability] = frozenset()

    def __init__(self, wanted: int = 1) -> None:
        self.wanted = wanted

    def retrieve(self, samples: Sequence[tuple[str, Row]], pool: Sequence[tuple[str, Row]]) -> list[list[str]]:
        ranked = sorted(pool, key=lambda sample: -len(sample[1]["answer"]))
        return [[sample_id for sample_id, _ in ranked[: self.wanted]] for _ in samples]


def test_a_retriever_of_the_users_own() -> None:
    pool = table(question("a", "x"), question("b", "xxx"), question("c", "xx"), prefix="p")
    assert ids(retrieve(SAMPLES, pool, dataset({"type": f"{__name__}:Longest", "wanted": 2}))) == [["p1", "p2"]] * 3
    with pytest.raises(SpecError, match="is no retriever"):
        needs(dataset({"type": "collections:Counter"}))


def test_shared_labels() -> None:
    pool = table(
        *[{"question": f"{n}", "answer": "", "labels": labels} for n, labels in enumerate([["b"], ["a", "b"], ["c"], ["a"]])],
        prefix="p",
    )
    sample = table({"question": "q", "answer": "", "labels": ["a", "b", "d"]})
    native, recorded = (dataset({"type": "XiezhiRetriever", "ice_num": 4}, compat=compat) for compat in (False, True))
    assert ids(retrieve(sample, pool, native)) == [["p1", "p3", "p0"]]
    assert ids(retrieve(sample, pool, recorded)) == [["p1", "p3", "p0", "p1"]]
    assert "p1" not in ids(retrieve(pool, pool, native))[1]
    with pytest.raises(DataError, match="row 'r0' has no list in a column 'labels'"):
        retrieve(table(question("q")), pool, native)
