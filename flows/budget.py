"""The caps of a whole run: dollars, tokens, time. When one is reached, no new request leaves; what is in flight finishes."""

from __future__ import annotations

import threading
from collections.abc import Callable

from inference.answers import seconds
from leaderflow.core.prices import Prices
from leaderflow.core.specs import EvaluationSpec
from leaderflow.core.types import Answer

Halt = Callable[[str], None]


class Budget:
    """Counts what a run spends; fed from several threads. Only what this run asks counts, not what earlier runs paid.

    Args:
        spec: the run's, with its caps.
        prices: of its models.
        halt: called with the reason, once, when a cap is reached.

    Raises:
        SpecError: a cap on the cost, but a model without a price; a time that is none.
    """

    def __init__(self, spec: EvaluationSpec, prices: Prices, halt: Halt) -> None:
        if spec.max_cost is not None:
            prices.require()
        self._spec, self._prices, self._halt = spec, prices, halt
        self._limit_s = None if spec.max_time is None else seconds(spec.max_time, key="max_time")
        self._lock = threading.Lock()
        self._tokens, self._cost = 0, 0.0
        self._reached = False
        self._timer: threading.Timer | None = None

    @property
    def cost(self) -> float | None:
        """Dollars spent so far; None if no model costs anything that is known."""
        return self._cost if self._prices.paid else None

    def start(self) -> None:
        """Start the clock."""
        if self._limit_s is not None:
            self._timer = threading.Timer(self._limit_s, self._reach, [f"the time cap of {self._spec.max_time} (max_time)"])
            self._timer.daemon = True
            self._timer.start()

    def stop(self) -> None:
        """Stop the clock."""
        if self._timer is not None:
            self._timer.cancel()

    def heard(self, model: str, answer: Answer) -> None:
        """Count an answer that came from a model."""
        prompt, output = answer.prompt_tokens or 0, answer.output_tokens or 0
        with self._lock:
            self._tokens += prompt + output
            self._cost += self._prices.cost(model, prompt, output) or 0.0
            reason = self._why(answer)
        if reason:
            self._reach(reason)

    def _why(self, answer: Answer) -> str | None:
        spec = self._spec
        capped = spec.max_tokens is not None or spec.max_cost is not None
        if capped and answer.status in ("ok", "truncated") and answer.prompt_tokens is None and answer.output_tokens is None:
            return "a model that reports no token counts, so that no cap on tokens or cost could hold,"
        if spec.max_tokens is not None and self._tokens >= spec.max_tokens:
            return f"the cap of {spec.max_tokens:,} tokens (max_tokens)"
        if spec.max_cost is not None and self._cost >= spec.max_cost:
            return f"the cost cap of {spec.max_cost:g} USD (max_cost)"
        return None

    def _reach(self, reason: str) -> None:
        with self._lock:
            first, self._reached = not self._reached, True
        if first:
            self._halt(f"{reason} was reached")
