"""Fit the weights of `evaluators.extractors.scorer`: ``python -m tests.evaluators.corpus.fit [--cross]``.

The answers of this folder and of ``extractors/replies.jsonl`` are the examples, but for the sealed half of ``fourth.jsonl``. The
probability of what a careful reader found is made as large as possible: stochastic gradients (Adam), a part of the features left
out at every step, and a penalty on the size of the weights, so that many are nothing. Options and numbers share weights and have
their own beside. ``--cross`` says how well weights fitted without some writers' answers read these.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from evaluators.extractors import choice, number, scorer
from evaluators.extractors.features import Shown, of_candidates, of_none, pairs
from leaderflow.core.reasoning import split_reasoning
from tests.evaluators.corpus.measure import Figures
from tests.evaluators.corpus.split import half

FOLDER = Path(__file__).parent
REPLIES = FOLDER.parent / "extractors" / "replies.jsonl"
WEIGHTS = Path(scorer.__file__).with_name("weights.json")
KINDS = {"choice_letter": "choice", "choice_letters": "choice", "final_number": "number"}
BASICS = 3
"""How often the plain replies count, which nobody would forgive a reader to misread."""
FITS, NOTHING = 3, 0.015
"""How many fits are averaged, and below what size a weight is dropped."""
SEEN = 3
"""How many examples a feature must occur in."""
ROUNDS, BATCH, RATE = 16, 64, 0.01
LEFT_OUT = 0.55
"""Which share of the features is left out at a step."""
DECAY, SPARSE = 0.05, 0.05
"""Penalties on the square and on the size of the weights, per step and unit of `RATE`."""


@dataclass(frozen=True, slots=True)
class Example:
    """A reply: the features of none and of each candidate, and which of these are right."""

    writer: str
    kind: str
    features: list[list[str]]
    values: list[str | None]
    right: str | None


def examples(writers: Sequence[Path]) -> Iterator[Example]:
    """Yield the examples of some files of answers; of ``fourth.jsonl`` its open half."""
    for file in writers:
        for line in file.read_text(encoding="utf-8").splitlines() * (BASICS if file == REPLIES else 1):
            row = json.loads(line)
            if "extractor" in row:
                kind, text, right = KINDS.get(row["extractor"]), row["reply"], row["value"]
            else:
                kind, text, right = row["kind"], row["text"], row["expect"]
            if kind not in ("choice", "number") or (file.stem == "fourth" and half(row["id"]) == "sealed"):
                continue
            several = row.get("extractor") == "choice_letters"
            if found := _example(file.stem, kind, text, right, row.get("options", "ABCD"), several):
                yield found


def _example(writer: str, kind: str, text: str, right: str | None, options: str, several: bool) -> Example | None:
    _, answer = split_reasoning(text)
    right = number.canonical(right) if right is not None and kind == "number" else right
    read = choice.passages(answer or "", options, several=several) if kind == "choice" else number.passages(answer or "")
    turns = [passage for _, passage in read if passage.candidates]
    if not turns:
        return None
    passage = next((turn for turn in turns if right in {c.value for c in turn.candidates}), turns[0])
    shown = [of_none(passage), *of_candidates(passage, kind)]
    return Example(writer, kind, [_names(each) for each in shown], [c.value for c in passage.candidates], right)


def _names(shown: Shown) -> list[str]:
    return list(dict.fromkeys([*shown.found, *shown.around, *pairs(shown.signs)]))


@dataclass(frozen=True, slots=True)
class Table:
    """Examples as rows of features, one for none and one for each candidate; where each begins, and which rows are right."""

    rows: csr_matrix
    starts: NDArray[np.int64]
    right: NDArray[np.bool_]


def known_features(train: Sequence[Example]) -> dict[str, int]:
    """Return the columns: each feature shared and by kind, if it occurs often enough."""
    seen: Counter[str] = Counter()
    for example in train:
        names = {name for features in example.features for name in features}
        seen.update(f"shared {name}" for name in names)
        seen.update(f"{example.kind} {name}" for name in names)
    return {name: column for column, name in enumerate(sorted(name for name, count in seen.items() if count >= SEEN))}


def table(of: Sequence[Example], columns: dict[str, int]) -> Table:
    """Return examples as a table."""
    indices: list[int] = []
    pointers, starts, right = [0], [0], []
    for example in of:
        for features in example.features:
            for name in features:
                indices += [columns[key] for key in (f"shared {name}", f"{example.kind} {name}") if key in columns]
            pointers.append(len(indices))
        right += [example.right is None, *(value == example.right for value in example.values)]
        starts.append(len(pointers) - 1)
    shape = (len(pointers) - 1, len(columns))
    return Table(csr_matrix((np.ones(len(indices)), indices, pointers), shape=shape), np.array(starts), np.array(right))


def fit(of: Table, seed: int = 0) -> NDArray[np.float64]:
    """Return the weights of the columns."""
    draw = np.random.default_rng(seed)
    size, count = of.rows.shape[1], len(of.starts) - 1
    weights, first, second = np.zeros(size), np.zeros(size), np.zeros(size)
    steps, step = ROUNDS * (count // BATCH + 1), 0
    for _ in range(ROUNDS):
        order = draw.permutation(count)
        for begin in range(0, count, BATCH):
            step += 1
            gradient = _gradient(of, order[begin : begin + BATCH], weights, draw)
            first = 0.9 * first + 0.1 * gradient
            second = 0.999 * second + 0.001 * gradient**2
            rate = RATE * min(1.0, step / (0.15 * steps), (steps - step + 1) / (0.85 * steps))
            move = (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
            weights -= rate * (move + DECAY * weights)
            weights = np.sign(weights) * np.maximum(np.abs(weights) - rate * SPARSE, 0)
    return weights


def _gradient(of: Table, batch: NDArray[np.int64], weights: NDArray[np.float64], draw: np.random.Generator) -> NDArray[np.float64]:
    """Return the gradient of the mean negative log probability of what is right, a part of the features left out."""
    lengths = of.starts[batch + 1] - of.starts[batch]
    places = np.concatenate([np.arange(of.starts[one], of.starts[one + 1]) for one in batch])
    rows, right = of.rows[places], of.right[places]
    rows.data = rows.data * (draw.random(len(rows.data)) >= LEFT_OUT) / (1 - LEFT_OUT)
    begins = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    group = np.repeat(np.arange(len(batch)), lengths)
    scores = rows @ weights
    share = np.exp(scores - np.maximum.reduceat(scores, begins)[group])
    wanted = np.add.reduceat(share * right, begins)
    known = wanted > 0
    all_shares, wanted = np.add.reduceat(share, begins), np.where(known, wanted, 1)
    slope = np.where(known[group], share / all_shares[group] - share * right / wanted[group], 0)
    return np.asarray(rows.T @ slope) / len(batch)


def cross(of: Sequence[Example], groups: Sequence[Sequence[str]]) -> None:
    """Print how the answers of each group of writers are read by weights fitted without them."""
    for group in groups:
        train = [example for example in of if example.writer not in group]
        held = [example for example in of if example.writer in group]
        columns = known_features(train)
        weights, rows = mean_fit(table(train, columns)), table(held, columns)
        scores = rows.rows @ weights
        read: dict[str, Figures] = {}
        for place, example in enumerate(held):
            own = scores[rows.starts[place] : rows.starts[place + 1]]
            best = scorer.choose(example.values, list(own[1:]), own[0])
            seen = read.setdefault(example.kind, Figures())
            seen.answerable += example.right is not None
            seen.given += best is not None
            seen.right += best is not None and example.values[best] == example.right
        for kind, seen in sorted(read.items()):
            print(f"{' '.join(group)}: {kind}, precision {seen.precision:.3f}, recall {seen.recall:.3f}", flush=True)


def mean_fit(of: Table) -> NDArray[np.float64]:
    """Return the mean of the weights of several fits, without those that are next to nothing."""
    weights: NDArray[np.float64] = np.mean([fit(of, seed) for seed in range(FITS)], axis=0)
    return np.where(np.abs(weights) < NOTHING, 0, np.round(weights, 2))


def write(weights: NDArray[np.float64], columns: dict[str, int]) -> int:
    """Write the weights that are something, sorted by name, and return how many they are."""
    fitted: dict[str, dict[str, float]] = {"shared": {}, "choice": {}, "number": {}}
    for key, column in columns.items():
        part, _, name = key.partition(" ")
        if weight := float(weights[column]):
            fitted[part][name] = weight
    WEIGHTS.write_text(json.dumps(fitted, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    return sum(len(part) for part in fitted.values())


def main() -> None:
    """Fit and write the weights, or show what weights fitted without some writers do."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cross", nargs="*", help="writers (files without their ending) to leave out together; none: all in turn")
    chosen = parser.parse_args()
    of = list(examples([*sorted(FOLDER.glob("*.jsonl")), REPLIES]))
    if chosen.cross is None:
        columns = known_features(of)
        print(f"{write(mean_fit(table(of, columns)), columns):,} weights from {len(of):,} answers")
    else:
        writers = sorted({example.writer for example in of} - {REPLIES.stem})
        cross(of, [chosen.cross] if chosen.cross else [[writer] for writer in writers])


if __name__ == "__main__":
    main()
