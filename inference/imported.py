"""`Imported`: stands for a model whose answers were brought from elsewhere. It has those, and can be asked nothing more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from leaderflow.core.errors import BackendError
from leaderflow.core.identity import canonical_json
from leaderflow.core.specs import ModelSpec
from leaderflow.core.types import Answer, Capability, Request

NOTHING = "no prediction was imported for this request"


class Imported:
    """A model by name only.

    Args:
        spec: the model block.
        accepts: which input the predictions were made from, ``messages`` or ``text``.
    """

    def __init__(self, spec: ModelSpec, accepts: Literal["messages", "text"] = "messages") -> None:
        self.capabilities: frozenset[Capability] = self.claims(accepts)
        self.identity = canonical_json({"imported": spec.path, "abbr": spec.abbr})

    @staticmethod
    def claims(accepts: Literal["messages", "text"] = "messages") -> frozenset[Capability]:
        """Return what its stored answers can be for."""
        return frozenset({"generate", "tools", "loglikelihood", accepts})

    def connect(self) -> None:
        """Nothing to reach."""

    def generate(self, requests: Sequence[Request]) -> Iterator[Answer]:
        """Yield an error for every request: what was imported is in the store, and is never asked."""
        for request in requests:
            yield Answer(request.request_key, "error", attempts=0, error=NOTHING, error_class="sample")

    loglikelihood = generate

    def embed(self, texts: Sequence[str]) -> Any:
        """Refuse.

        Raises:
            BackendError: always.
        """
        raise BackendError("an imported model cannot embed texts; name an embedding model")

    def close(self) -> None:
        """Nothing to free."""
