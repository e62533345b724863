"""What tokens cost: the user's own table in ``LEADERFLOW_HOME/prices.yaml`` first, then the one that ships.

Prices are data with a date, and a bill may differ (cached input, batches, retried requests): use them for caps and estimates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from leaderflow.core.errors import SpecError
from leaderflow.core.paths import data_file, home
from leaderflow.core.specs import ModelSpec

API_TYPES = frozenset({"OpenAISDK"})
"""Model types that somebody is paid for; local weights cost nothing."""


class Price(BaseModel):
    """US dollars for a million tokens, and the day on which that was the list price (``2026-01-31``)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    as_of: str

    def cost(self, prompt_tokens: int, output_tokens: int) -> float:
        """Return the dollars of so many tokens."""
        return (prompt_tokens * self.input + output_tokens * self.output) / 1e6


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid")

    models: dict[str, Price]


@dataclass(frozen=True)
class Prices:
    """The prices of a run's models by `abbr`; None where nobody knows."""

    by_model: dict[str, Price | None]

    def cost(self, model: str, prompt_tokens: int, output_tokens: int) -> float | None:
        """Return the dollars of tokens of a model, None if its price is unknown."""
        price = self.by_model.get(model)
        return None if price is None else price.cost(prompt_tokens, output_tokens)

    @property
    def paid(self) -> bool:
        """Whether a model costs something."""
        return self.as_of is not None

    @property
    def as_of(self) -> str | None:
        """The day of the oldest price; None if no model costs anything that is known."""
        return min((price.as_of for price in self.by_model.values() if price and (price.input or price.output)), default=None)

    def require(self) -> None:
        """See that every price is known.

        Raises:
            SpecError: names the model and the file.
        """
        if unknown := next((name for name, price in self.by_model.items() if price is None), None):
            example = '`PATH: {input: 1.0, output: 4.0, as_of: "2026-01-31"}`'
            where = f"write it into {user_table()} below `models:`, such as {example}"
            raise SpecError(f"no price of {unknown} is known; {where}", key="max_cost")


def prices_of(models: list[ModelSpec]) -> Prices:
    """Return what the tokens of models cost.

    Raises:
        SpecError: a table is wrong.
    """
    tables = list(_tables())
    return Prices({model.abbr: _price(model, tables) for model in models})


def user_table() -> Path:
    """Return where the user's own prices stand."""
    return home() / "prices.yaml"


def _price(model: ModelSpec, tables: list[_Table]) -> Price | None:
    if model.type not in API_TYPES and model.openai_api_base is None:
        return Price(input=0, output=0, as_of="always")
    found = (price for table in tables for name, price in table.models.items() if fnmatchcase(model.path, name))
    return next(found, None)


def _tables() -> Iterator[_Table]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    for file in (user_table(), data_file("recipes") / "prices.yaml"):
        if file.is_file():
            try:
                content: Any = YAML(typ="safe").load(file.read_text("utf-8"))
                yield _Table.model_validate(content)
            except ValidationError as exc:
                first = exc.errors()[0]
                raise SpecError(str(first["msg"]), file=str(file), key=".".join(map(str, first["loc"]))) from None
            except YAMLError as exc:
                raise SpecError(" ".join(str(exc).split()), file=str(file)) from None
