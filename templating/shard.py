"""Rendering one shard: rows in, prompts out, and what there is to say at the end."""

from __future__ import annotations

import functools
import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from leaderflow.core.errors import DataError, TemplateError
from leaderflow.core.identity import canonical_json, input_key
from leaderflow.core.types import Prompt, Row
from templating.fit import Fitted, asked_anyway, estimated_tokens, fit, window
from templating.meta import Rendered
from templating.renderer import Renderer
from templating.target import Target

log = logging.getLogger("leaderflow.templating")

RENDERED_EXAMPLES = 8192
"""Rendered examples that are kept: few-shot prompts share theirs."""


class Pool:
    """The rows that the examples of a shard come from.

    Args:
        pool: SAMPLES of the train split.
        examples: EXAMPLES of the shard; only rows that they name are kept.
    """

    def __init__(self, pool: pa.Table, examples: pa.Table) -> None:
        self.size = pool.num_rows
        named = pc.unique(pc.list_flatten(examples.column("example_ids")))
        used = pool.filter(pc.is_in(pool.column("sample_id"), value_set=named))
        self.rows = dict(zip(used.column("sample_id").to_pylist(), used.column("row").to_pylist(), strict=True))

    def row(self, example_id: str) -> Row:
        """Return a row.

        Raises:
            DataError: the pool does not have it.
        """
        if example_id not in self.rows:
            raise DataError(f"the example {example_id!r} is not in the pool of {self.size} rows")
        return json.loads(self.rows[example_id])  # type: ignore[no-any-return]


class Shard:
    """The state of one rendering: what was seen before, and what there is to say at the end."""

    def __init__(self, renderer: Renderer, pool: Pool, target: Target, labels: list[str] | None, prior: Mapping[str, int]) -> None:
        self.renderer, self.prior = renderer, prior
        self.seen: Counter[str] = Counter()
        self.labels: list[str | None] = [None] if labels is None else [*labels]
        alone = renderer.rules.length_is_prompt
        self.window = window(target.counter, target.max_seq_len, None if alone or target.mode == "ppl" else target.max_out_len)
        self.rendered: Callable[[str], Rendered] = functools.lru_cache(maxsize=RENDERED_EXAMPLES)(
            lambda i: renderer.example(pool.row(i))
        )
        self.guessed = target.max_seq_len if target.counter is None else None
        self.truncate = None if target.mode == "ppl" else target.truncate
        self.too_long = self.cut = 0
        self.told = False

    def rows(self, sample_id: str, text: str, example_ids: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield the rows of one sample."""
        row: Row = json.loads(text)
        if not self.told:
            self.told = True
            if absent := self.renderer.absent_columns(row):
                raise DataError(f"{self.renderer.dataset.abbr}: input_columns names {absent}")
            for name in self.renderer.unlisted_columns(row):
                _warn_unlisted(self.renderer.dataset.abbr, name)
        with self._named("ice_template", sample_id):
            shots = [self.rendered(example_id) for example_id in example_ids]
        with self._named(self.renderer.name, sample_id):
            fitted = self._fitted(row, shots)
        for label, prompt in zip(self.labels, fitted.prompts, strict=True):
            yield self._row(sample_id, label, prompt, fitted)

    def report(self) -> None:
        """Say how many prompts were cut, and how many look too long where they cannot be counted."""
        if self.cut:
            log.warning("%s: %d prompts were cut (%s) to fit the window", self.renderer.dataset.abbr, self.cut, self.truncate)
        if self.too_long:
            log.warning(
                "%s: about %d prompts may exceed max_seq_len %s (estimated at 4 bytes a token); nothing was dropped. "
                "Name the model's `tokenizer` to have examples dropped exactly",
                self.renderer.dataset.abbr,
                self.too_long,
                self.guessed,
            )

    @contextmanager
    def _named(self, template: str, sample_id: str) -> Iterator[None]:
        """Put dataset, template and sample before an error's message."""
        try:
            yield
        except (TemplateError, DataError) as exc:
            place = f"{self.renderer.dataset.abbr}: infer_cfg.{template}: sample {sample_id}"
            raise type(exc)(f"{place}: {exc}") from exc

    def _fitted(self, row: Row, shots: list[Rendered]) -> Fitted:
        sample, labels = self.renderer.sample, self.labels
        fitted = fit(lambda kept: [sample(row, shots[:kept], label) for label in labels], len(shots), self.window, self.truncate)
        self.cut += fitted.cut > 0
        return asked_anyway(fitted) if self.renderer.rules.length_is_prompt else fitted

    def _row(self, sample_id: str, label: str | None, prompt: Prompt, fitted: Fitted) -> dict[str, Any]:
        if self.guessed is not None and estimated_tokens(prompt) > self.guessed:
            self.too_long += 1
        key = input_key(prompt)
        occurrence = self.prior.get(key, 0) + self.seen[key]
        self.seen[key] += 1
        return {
            "sample_id": sample_id,
            "label": label,
            "part": 0,
            "occurrence": occurrence,
            "input_key": key,
            "messages": None if prompt.messages is None else canonical_json(list(prompt.messages)),
            "text": prompt.text,
            "continuation": prompt.continuation,
            "dropped_examples": fitted.dropped,
            "status": "ok" if fitted.error is None else "rejected",
            "error": fitted.error,
        }


@functools.cache
def _warn_unlisted(abbr: str, column: str) -> None:
    """Warn once a process: every shard of a dataset would say the same."""
    log.warning("%s: the prompt shows column %r, which input_columns does not list", abbr, column)
