"""Which splits serve as samples and as pool of examples, and which ranges are cut from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderflow.core.errors import DataError, did_you_mean
from leaderflow.core.specs import DatasetSpec, Range
from readers.record import ONLY


@dataclass(frozen=True, slots=True)
class Selection:
    """A split of the source and the ranges cut from it one after the other, each with its key in the spec."""

    split: str | None
    ranges: tuple[tuple[str, Range], ...]


def selections(dataset: DatasetSpec, present: Sequence[str | None], *, pool: bool) -> tuple[Selection, Selection | None]:
    """Return what is evaluated, and where examples come from (None where no pool is asked for).

    Under ``compat: opencompass`` the cut train split takes the place of the split called ``train``, as recorded: with
    ``test_split: train`` the samples are cut from it.

    Raises:
        DataError: a split is absent.
    """
    cfg = dataset.reader_cfg
    test, train = ("test_range", cfg.test_range), ("train_range", cfg.train_range)
    if dataset.compat and cfg.test_split == "train":
        overwritten = choose(cfg.train_split, "train", present, dataset.abbr, "train_split")
        samples = Selection(overwritten, (train, test))
    else:
        samples = Selection(choose(cfg.test_split, "test", present, dataset.abbr, "test_split"), (test,))
    if not pool:
        return samples, None
    return samples, Selection(choose(cfg.train_split, "train", present, dataset.abbr, "train_split"), (train,))


def choose(wanted: str | None, default: str, present: Sequence[str | None], abbr: str, key: str) -> str | None:
    """Return the split to use: the named one, by default `default`, or the only one.

    Raises:
        DataError: it is absent; the message lists those present.
    """
    name = wanted or default
    if name in present:
        return name
    if len(present) == 1 and (wanted is None or (present[0] is ONLY and wanted in ("train", "test"))):
        return present[0]
    names = [str(split) for split in present if split is not ONLY]
    have = f"there are {', '.join(names)}" if names else f"the source has one split without a name: leave {key} out"
    raise DataError(f"dataset {abbr!r}: reader_cfg.{key}: no split {name!r}; {have}{did_you_mean(name, names)}")
