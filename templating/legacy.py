"""PromptTemplate: the legacy template; strings, dialogues of begin, round and end, and a candidate's text for each label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from leaderflow.core.errors import SpecError, TemplateError
from leaderflow.core.types import Json, Row
from templating.compat import NATIVE, Rules
from templating.dialogue import Block, Dialogue, Item
from templating.substitute import Fill

SECTIONS = ("begin", "round", "end")


class PromptTemplate:
    """The legacy template.

    Args:
        template: a string; a dialogue, which is a mapping with ``round`` and perhaps ``begin`` and ``end``; or a mapping from
            labels to either, one complete input for each candidate answer.
        ice_token: in whose place the examples stand.
        sep_token: left out wherever it stands; OpenCompass' configurations mark a context's end by it.
        rules: handed over by leaderflow.

    Raises:
        SpecError: wrong types, a dialogue without a round, or an ice_token that occurs nowhere.
    """

    def __init__(
        self,
        template: str | dict[str, Json],
        ice_token: str | None = None,
        sep_token: str | None = None,
        *,
        rules: Rules = NATIVE,
    ) -> None:
        for name, token in (("ice_token", ice_token), ("sep_token", sep_token)):
            if token is not None and (not isinstance(token, str) or not token):
                raise SpecError(f"{name} must be text, got {token!r}")
        if not isinstance(template, str | dict):
            raise SpecError(f"template must be text or a mapping, got {template!r}")
        self.ice_token, self.sep_token, self.rules = ice_token, sep_token, rules
        self.by_label: dict[str | None, str | Dialogue] = {}
        if isinstance(template, dict) and not set(template) <= set(SECTIONS):
            self.by_label = {str(label): _checked(f"template.{label}", value) for label, value in template.items()}
        else:
            self.by_label = {None: _checked("template", template)}
        for label, parsed in self.by_label.items():
            if ice_token is not None and not self._holds_token(parsed):
                where = "template" if label is None else f"template.{label}"
                raise SpecError(f"the ice_token {ice_token!r} occurs nowhere in {where}")

    @property
    def labels(self) -> list[str] | None:
        """The keys of a label map, in order; None for a single template."""
        return None if None in self.by_label else [label for label in self.by_label if label is not None]

    @property
    def is_dialogue(self) -> bool:
        """Whether any candidate is a dialogue."""
        return any(isinstance(parsed, Dialogue) for parsed in self.by_label.values())

    @property
    def takes_examples(self) -> bool:
        """Whether the examples have a place."""
        return self.ice_token is not None

    def texts(self) -> list[str]:
        """Return the texts that may hold placeholders."""
        return [text for parsed in self.by_label.values() for text in _texts(parsed)]

    def skeletons(self) -> list[str | Dialogue]:
        """Return every candidate as it stands, the examples left out."""
        return [self.target({}, str, "", hidden=None, label=label) for label in self.by_label]

    def target(self, row: Row, fill: Fill, examples: str | Dialogue, *, hidden: str | None, label: str | None) -> str | Dialogue:
        """Render the sample, for one label where the template has labels (the first one in generation).

        Args:
            row: the sample's row; `fill` already holds it.
            fill: fills a text from the row.
            examples: what stands in the ice_token's place.
            hidden: the answer column where it must not show; `fill` already knows it.
            label: the candidate.
        """
        chosen = self._chosen(label)
        if self.rules.examples_take_target_fields:
            examples = _filled(examples, fill)
        if isinstance(chosen, str):
            return self._text(chosen, fill, examples)
        return Dialogue(tuple(block for part in chosen.blocks for block in self._block(part, fill, examples)))

    def example(self, row: Row, fill: Fill, *, label: str | None) -> str | Dialogue:
        """Render an example: of a dialogue only the round, of a label map the example's own label."""
        chosen = self._chosen(label if self.labels is not None else None)
        if isinstance(chosen, str):
            return fill(self._bare(chosen))
        items = [item for block in chosen.blocks if block.section == "round" for item in block.items]
        return Dialogue((Block("ice", tuple(self._item(item, fill, "") for item in items)),))

    def _chosen(self, label: str | None) -> str | Dialogue:
        if label is None or None in self.by_label:
            return next(iter(self.by_label.values()))
        if label not in self.by_label:
            raise TemplateError(f"the template has no label {label!r} (it has {', '.join(map(repr, self.by_label))})")
        return self.by_label[label]

    def _holds_token(self, parsed: str | Dialogue) -> bool:
        if isinstance(parsed, Dialogue) and self.rules.lenient_templates:
            return True
        return any(str(self.ice_token) in text for text in _texts(parsed))

    def _bare(self, text: str) -> str:
        for token in (self.ice_token, self.sep_token):
            text = text.replace(token, "") if token else text
        return text

    def _text(self, text: str, fill: Fill, examples: str | Dialogue) -> str:
        pieces = self._pieces(text)
        if len(pieces) == 1:
            return fill(pieces[0])
        if isinstance(examples, Dialogue):
            raise TemplateError(
                "the examples are turns with roles, which cannot stand inside a text; write both templates in one form"
            )
        return examples.join(fill(piece) for piece in pieces)

    def _pieces(self, text: str) -> list[str]:
        text = text.replace(self.sep_token, "") if self.sep_token else text
        return text.split(self.ice_token) if self.ice_token else [text]

    def _item(self, item: Item, fill: Fill, examples: str | Dialogue) -> Item:
        if isinstance(item, str):
            return self._text(item, fill, examples)
        return {**item, "prompt": self._text(item["prompt"], fill, examples)} if "prompt" in item else item

    def _block(self, block: Block, fill: Fill, examples: str | Dialogue) -> Iterator[Block]:
        """Yield the block, cut wherever the examples' own blocks stand between its items."""
        current: list[Item] = []
        for item in block.items:
            if isinstance(examples, str) or not isinstance(item, str):
                current.append(self._item(item, fill, examples))
                continue
            for index, piece in enumerate(self._pieces(item)):
                if index:
                    yield from _nonempty(block.section, current)
                    yield from examples.blocks
                    current = []
                if piece:
                    current.append(fill(piece))
        if current or not block.items:
            yield Block(block.section, tuple(current))


def _nonempty(section: Literal["begin", "round", "ice", "end"], items: Sequence[Item]) -> list[Block]:
    return [Block(section, tuple(items))] if items else []


def _checked(where: str, value: Json) -> str | Dialogue:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return Dialogue((Block("round", _items(where, value)),))
    if not isinstance(value, dict) or not set(value) <= set(SECTIONS):
        raise SpecError(f"{where} must be text, a list of turns, or a mapping of {', '.join(SECTIONS)}; got {value!r}")
    if "round" not in value:
        raise SpecError(f"{where} has no 'round' (a dialogue is a mapping of {', '.join(SECTIONS)})")
    blocks = [Block("begin", ()), Block("round", ()), Block("end", ())]
    named = ((block.section, value[block.section]) for block in blocks if block.section in value)
    return Dialogue(tuple(Block(section, _items(f"{where}.{section}", items)) for section, items in named))


def _items(where: str, value: Json) -> tuple[Item, ...]:
    items = value if isinstance(value, list) else [value]
    for index, item in enumerate(items):
        place = f"{where}[{index}]" if isinstance(value, list) else where
        if isinstance(item, str):
            continue
        if not isinstance(item, dict) or not isinstance(item.get("role"), str):
            raise SpecError(f"{place} must be text or a turn with a role and a prompt, got {item!r}")
        if not isinstance(item.get("prompt", ""), str):
            raise SpecError(f"{place}.prompt must be text, got {item['prompt']!r}")
    return tuple(items)


def _texts(parsed: str | Dialogue) -> list[str]:
    if isinstance(parsed, str):
        return [parsed]
    items = [item for block in parsed.blocks for item in block.items]
    return [item if isinstance(item, str) else item.get("prompt", "") for item in items]


def _filled(examples: str | Dialogue, fill: Fill) -> str | Dialogue:
    if isinstance(examples, str):
        return fill(examples)
    blocks = [Block(block.section, tuple(_filled_item(item, fill) for item in block.items)) for block in examples.blocks]
    return Dialogue(tuple(blocks))


def _filled_item(item: Item, fill: Fill) -> Item:
    if isinstance(item, str):
        return fill(item)
    return {**item, "prompt": fill(item["prompt"])} if "prompt" in item else item
