"""What all retrievers share: the context they are built with, the pool, and the rule that no sample is its own example."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from leaderflow.core.errors import DataError, SpecError
from leaderflow.core.identity import canonical_json, sha256_hex
from leaderflow.core.types import Capability, Json, Row

if TYPE_CHECKING:
    from leaderflow.core.types import Answer, Request

KEY = "infer_cfg.retriever"
"""Where a retriever stands in a dataset's spec, for messages."""

Sample = tuple[str, Row]
"""A row with its sample_id."""

Floats = npt.NDArray[np.float64]

Embed = Callable[[Sequence[str]], Any]
"""Texts → float32 array of shape (len(texts), dimension); `Backend.embed` is one."""

Loglikelihood = Callable[[Sequence["Request"]], Iterator["Answer"]]
"""`Backend.loglikelihood`."""

Render = Callable[[Sequence[Sample], Sequence[Sequence[str]]], list[dict[str, str]]]
"""Samples and the example ids of each → for each sample its labels → the text of the whole prompt with that label."""


@dataclass(frozen=True)
class Context:
    """What a retriever is built with beside its own arguments.

    `text` gives what similarity retrievers compare, `twin` what makes two rows the same question, `label` the reference answer.
    `compat` asks for the recorded behaviour of OpenCompass. `embed`, `loglikelihood` and `render` are there where `needs` asks.
    """

    text: Callable[[Row], str]
    twin: Callable[[Row], Json]
    label: Callable[[Row], Json]
    compat: bool = False
    embed: Embed | None = None
    loglikelihood: Loglikelihood | None = None
    render: Render | None = None


class Pool:
    """The rows that may serve as examples, by position; natively sorted by id, so that no result hangs on the rows' order."""

    def __init__(self, rows: Sequence[Sample], context: Context) -> None:
        self.ids = [sample_id for sample_id, _ in rows]
        self.rows = [row for _, row in rows]
        self._context = context

    def __len__(self) -> int:
        return len(self.ids)

    def barred(self, sample: Sample) -> set[int]:
        """Return the positions of the sample itself and of rows that ask the same question: its twins."""
        by_id, by_content = self._places
        return by_id[sample[0]] | by_content[self._content(sample[1])]

    def texts(self) -> list[str]:
        """Return the text of every row, as similarity retrievers compare it."""
        return [self._context.text(row) for row in self.rows]

    @cached_property
    def _places(self) -> tuple[defaultdict[str, set[int]], defaultdict[str, set[int]]]:
        by_id, by_content = defaultdict[str, set[int]](set), defaultdict[str, set[int]](set)
        for position, (sample_id, row) in enumerate(zip(self.ids, self.rows, strict=True)):
            by_id[sample_id].add(position)
            by_content[self._content(row)].add(position)
        return by_id, by_content

    def _content(self, row: Row) -> str:
        return canonical_json(_folded(self._context.twin(row)))


def _folded(value: Json) -> Json:
    """Return a value without case and without blanks that separate nothing: copies of a question differ in these."""
    if isinstance(value, str):
        return " ".join(value.split()).casefold()
    if isinstance(value, list):
        return [_folded(item) for item in value]
    return {name: _folded(item) for name, item in value.items()} if isinstance(value, dict) else value


class ExampleRetriever(ABC):
    """A retriever that chooses by positions in the pool: `native` for our own semantics, `recorded` for OpenCompass'.

    Args:
        context: handed over by leaderflow, never written in a configuration.
        ice_num: how many examples each sample gets.
        ice_separator: text between examples; read by the templates, it changes no choice.
        ice_eos_token: text after the examples; read by the templates, it changes no choice.
    """

    needs: ClassVar[frozenset[Capability]] = frozenset()
    sorts_pool: ClassVar[bool] = True
    """False where positions have a documented meaning."""
    in_opencompass: ClassVar[bool] = True
    """False for our own retrievers: they know the native choice alone."""

    def __init__(self, context: Context, ice_num: int = 1, ice_separator: str = "\n", ice_eos_token: str = "\n") -> None:
        self.context = context
        self.ice_num = at_least("ice_num", ice_num, 0)

    def retrieve(self, samples: Sequence[Sample], pool: Sequence[Sample]) -> list[list[str]]:
        """Return for each sample the ids of its examples, in the order in which they stand in the prompt.

        Raises:
            DataError: the pool is too small or holds no row at a position that was asked for.
        """
        native = not (self.context.compat and self.in_opencompass)
        rows = Pool(sorted(pool, key=lambda sample: sample[0]) if native and self.sorts_pool else pool, self.context)
        chosen = self.native(samples, rows) if native else self.recorded(samples, rows)
        return [[self._id(rows, position) for position in positions] for positions in chosen]

    @abstractmethod
    def native(self, samples: Sequence[Sample], pool: Pool) -> list[list[int]]:
        """Choose deterministically and independently of the rows' order; a sample's twins are never among its examples."""

    def recorded(self, samples: Sequence[Sample], pool: Pool) -> list[list[int]]:
        """Choose as recorded of OpenCompass, the sample itself included."""
        raise NotImplementedError

    def _id(self, pool: Pool, position: int) -> str:
        if not -len(pool) <= position < len(pool):
            raise DataError(
                f"{KEY}: example {position} is out of the pool, which has {len(pool)} rows; change the retriever or train_range"
            )
        return pool.ids[position]


def enough(pool: Pool, sample: Sample, barred: set[int], wanted: int) -> None:
    """Refuse a pool that cannot give a sample as many examples as were asked for.

    Raises:
        DataError: names the sample, the number wanted and the number there is.
    """
    free = len(pool) - len(barred)
    if free < wanted:
        own = f" ({len(barred)} more: the sample itself or its question again)" if barred else ""
        raise DataError(
            f"{KEY}: sample {sample[0]!r} needs {wanted} examples, but only {free} rows of the pool can serve{own}; "
            "lower ice_num or widen train_split/train_range"
        )


def best(scores: Floats, wanted: int, barred: set[int]) -> list[int]:
    """Return the positions of the highest scores, best first; equal scores by position, barred positions left out."""
    scores = scores.copy()
    scores[list(barred)] = -np.inf
    if wanted >= len(scores):
        candidates = np.arange(len(scores))
    else:
        least = np.partition(scores, len(scores) - wanted)[len(scores) - wanted] if wanted else np.inf
        candidates = np.flatnonzero(scores >= least)
    order = candidates[np.argsort(-scores[candidates], kind="stable")]
    return [int(position) for position in order[:wanted] if int(position) not in barred]


def generator(*parts: Json) -> random.Random:
    """Return a random generator seeded by the hash of `parts`, such as a seed and a sample_id."""
    return random.Random(int(sha256_hex(canonical_json(list(parts))), 16))


def at_least(name: str, value: int, least: int) -> int:
    """Return a whole number that is not below `least`.

    Raises:
        SpecError: it is not.
    """
    if type(value) is not int or value < least:
        raise SpecError(f"{name} must be a whole number from {least}, got {value!r}", key=KEY)
    return value


def checked_seed(value: int) -> int:
    """Return a seed that every generator takes.

    Raises:
        SpecError: it is no whole number from 0, below 2³².
    """
    if at_least("seed", value, 0) >= 2**32:
        raise SpecError(f"seed must be below 2**32, got {value}", key=KEY)
    return value


def is_number(value: Json) -> bool:
    """Say whether a value is a number (True and False are none)."""
    return isinstance(value, int | float) and not isinstance(value, bool)
