"""One dataset's templates with one model's side: from a row and its examples to the prompts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import cast

from leaderflow.core import registry
from leaderflow.core.errors import SpecError, TemplateError, did_you_mean
from leaderflow.core.specs import DatasetSpec
from leaderflow.core.types import Json, Message, Mode, Prompt, Row
from templating.compat import rules_of
from templating.dialogue import Block, Dialogue
from templating.legacy import PromptTemplate
from templating.meta import ModelSide, Rendered
from templating.raw import RawPromptTemplate
from templating.substitute import blanked, fields_in, filler
from templating.target import Target

Template = RawPromptTemplate | PromptTemplate

CHOOSING = frozenset({"PPLInferencer"})
"""Inferencers that choose among candidates, so that every candidate must read differently."""


class Renderer:
    """Renders the samples of one dataset for one model.

    Args:
        dataset: the dataset's spec.
        target: what must be known of the model.
        key: where the dataset stands in the spec, for messages.

    Raises:
        SpecError: templates, retriever, mode and model do not go together.
    """

    def __init__(self, dataset: DatasetSpec, target: Target, *, key: str) -> None:
        self.dataset, self.mode, self.key = dataset, target.mode, key
        self.rules = rules_of(dataset.compat)
        self.answer = dataset.reader_cfg.output_column
        cfg = dataset.infer_cfg
        self.ice = self._template("ice_template", cfg.ice_template)
        given = self._template("prompt_template", cfg.prompt_template)
        self.name = "prompt_template" if given else "ice_template"
        self.prompt = given or cast(Template, self.ice)
        with _at("model", ""):
            self.side = ModelSide(target.meta_template, target.accepts, target.mode, target.chat_template, self.rules)
        for name, template in ((self.name, self.prompt), ("ice_template", self.ice)):
            with _at(key, f"infer_cfg.{name}"):
                if template is not None:
                    self.side.check(template)
        self._check_examples(cfg.retriever)
        self._check_mode(target.mode, cfg.inferencer)

    def example(self, row: Row) -> Rendered:
        """Render one in-context example from its own row."""
        if self.ice is None:
            raise TemplateError("there are examples but no ice_template; give one or use ZeroRetriever")
        label = None if self.answer is None else str(row.get(self.answer))
        return self.ice.example(row, filler(row, literal=self.rules.literal_fields), label=label)

    def sample(self, row: Row, examples: Sequence[Rendered], label: str | None) -> Prompt:
        """Render one candidate of a sample with its rendered examples."""
        legacy = isinstance(self.prompt, PromptTemplate)
        blank = legacy and self.mode == "gen"
        hidden = None if blank or self.rules.answer_may_show else self.answer
        shown = blanked(row, self.answer) if blank else row
        fill = filler(shown, literal=self.rules.literal_fields, hidden=hidden)
        joined = self._joined(examples)
        if isinstance(self.prompt, RawPromptTemplate):
            shots = joined if isinstance(joined, list) else []
            messages = self.prompt.target(shown, fill, shots, hidden=hidden, label=label)
            if not messages and not self.rules.lenient_templates:
                raise TemplateError("no message is left, so the model would be asked nothing")
            return self.side.prompt(messages)
        if isinstance(joined, list):
            raise TemplateError("the examples are role/content messages; a PromptTemplate needs an ice_template of its own kind")
        return self.side.prompt(self.prompt.target(shown, fill, joined, hidden=hidden, label=label))

    def absent_columns(self, row: Row) -> str | None:
        """Return the first of input_columns that the row lacks, with what it may mean; a stored table may be of other columns."""
        absent = next((name for name in self.dataset.reader_cfg.input_columns if name not in row), None)
        return None if absent is None else f"{absent!r}, which the rows do not have{did_you_mean(absent, row)}"

    def unlisted_columns(self, row: Row) -> list[str]:
        """Return the columns that the prompt shows although input_columns does not list them."""
        listed = {*self.dataset.reader_cfg.input_columns, self.answer}
        named = (name for text in self.prompt.texts() for name in fields_in(text, row))
        return [name for name in dict.fromkeys(named) if name not in listed]

    def _template(self, name: str, config: dict[str, Json] | None) -> Template | None:
        if config is None:
            return None
        with _at(self.key, f"infer_cfg.{name}"):
            return cast(Template, registry.build("template", config, rules=self.rules))

    def _check_examples(self, retriever: dict[str, Json]) -> None:
        key = f"{self.key}.infer_cfg"
        if retriever.get("type") == "ZeroRetriever":
            return
        if self.ice is None:
            raise SpecError(
                f"{retriever.get('type')} chooses examples but there is no ice_template; give one or use ZeroRetriever", key=key
            )
        if self.rules.lenient_templates:
            return
        if type(self.ice) is not type(self.prompt):
            raise SpecError("ice_template and prompt_template must be of one type", key=f"{key}.ice_template.type")
        if not self.prompt.takes_examples:
            raise SpecError(f"the examples have no place: the ice_token stands nowhere in {self.name}", key=f"{key}.{self.name}")

    def _check_mode(self, mode: Mode, inferencer: dict[str, Json]) -> None:
        if mode != "ppl" or self.rules.lenient_templates or inferencer.get("type") not in CHOOSING:
            return
        if self.prompt.labels is None:
            raise SpecError(
                f"{inferencer['type']} compares candidates, so the template must be a PromptTemplate with one input for each label",
                key=f"{self.key}.infer_cfg.{self.name}",
            )

    def _joined(self, examples: Sequence[Rendered]) -> Rendered:
        """Return all examples as one piece: text with separators, messages, or blocks of turns."""
        if isinstance(self.ice, RawPromptTemplate):
            return [message for example in examples for message in cast(list[Message], example)]
        separator, ending = separators(self.dataset.infer_cfg.retriever)
        if self.ice is not None and self.ice.is_dialogue and examples:
            return Dialogue(tuple(self._blocks(cast(Sequence[str | Dialogue], examples), separator, ending)))
        if not examples and not self.rules.recorded_joins:
            return ""
        whole_dialogue = self.ice is not None and self.ice.labels is None and self.ice.is_dialogue
        return "" if whole_dialogue else separator.join(cast(Sequence[str], examples)) + ending

    def _blocks(self, examples: Sequence[str | Dialogue], separator: str, ending: str) -> Iterator[Block]:
        """Yield the blocks of all examples; OpenCompass separates those of a label map."""
        separated = self.rules.recorded_joins and cast(PromptTemplate, self.ice).labels is not None
        for example in examples:
            yield from example.blocks if isinstance(example, Dialogue) else (Block("begin", (example,)),)
            if separated:
                yield Block("begin", (separator,))
        if separated:
            yield Block("begin", (ending,))


def separators(retriever: dict[str, Json]) -> tuple[str, str]:
    """Return what stands between text examples and after them: a newline, unless the retriever's block says otherwise."""
    ending = "" if retriever.get("type") == "ZeroRetriever" else "\n"
    return retriever.get("ice_separator", "\n"), retriever.get("ice_eos_token", ending)


@contextmanager
def _at(key: str, name: str) -> Iterator[None]:
    """Put the place in the spec before the message of a SpecError."""
    try:
        yield
    except SpecError as exc:
        raise SpecError(exc.message, key=".".join(part for part in (key, name, exc.key) if part)) from exc
