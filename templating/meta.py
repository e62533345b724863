"""The model's side of a prompt: what its meta_template, in either form, makes of a rendered template."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from leaderflow.core.errors import SpecError, TemplateError
from leaderflow.core.types import Capability, Json, Message, Mode, Prompt
from templating.compat import Rules
from templating.dialogue import Dialogue
from templating.legacy import PromptTemplate
from templating.meta_dict import CHAT_DEFAULT, DictMeta, join_neighbours
from templating.meta_list import ListMeta
from templating.raw import RawPromptTemplate

Rendered = str | list[Message] | Dialogue


class ModelSide:
    """Turns what a template rendered to into the input that a model takes.

    Args:
        meta_template: the model block's, or None.
        accepts: ``messages``, ``text`` or both.
        mode: ``gen`` stops at the model's turn, ``ppl`` keeps everything.
        chat_template: the messages go through a tokenizer's chat template (it matters to OpenCompass' semantics alone).
        rules: which semantics holds.

    Raises:
        SpecError: the meta_template is wrong in itself.
    """

    def __init__(self, meta_template: Json, accepts: Collection[Capability], mode: Mode, chat_template: bool, rules: Rules) -> None:
        self.rules, self.generate = rules, mode == "gen"
        self.messages_accepted, self.text_accepted = "messages" in accepts, "text" in accepts
        self.chat = chat_template and rules.chat_default
        self.meta: DictMeta | ListMeta | None = None
        if meta_template == [] or (meta_template == {} and rules.forms_may_mix):
            meta_template = None
        if isinstance(meta_template, list):
            self.meta = ListMeta(meta_template)
        elif isinstance(meta_template, dict):
            self.meta = DictMeta(meta_template, rules)
        elif meta_template is not None:
            raise SpecError(f"meta_template must be a list of messages or a mapping with 'round', got {meta_template!r}")
        if isinstance(self.meta, ListMeta) and not self.messages_accepted:
            raise SpecError("meta_template is a list of messages, but the model takes text; write the mapping with 'round'")
        self.dialogues = DictMeta(CHAT_DEFAULT, rules) if self.meta is None and self.chat else self.meta
        self._check_dictionary()

    def check(self, template: RawPromptTemplate | PromptTemplate) -> None:
        """Raise SpecError where the template and the model do not go together, as far as no row is needed to see it."""
        if isinstance(template, RawPromptTemplate):
            self._check_raw()
        elif isinstance(self.meta, ListMeta) and (template.is_dialogue or not self.rules.forms_may_mix):
            raise SpecError(
                "meta_template is a list of messages, which goes with RawPromptTemplate; PromptTemplate needs a mapping"
            )
        for skeleton in template.skeletons():
            try:
                self.prompt(skeleton)
            except TemplateError as exc:
                raise SpecError(str(exc)) from exc

    def prompt(self, rendered: Rendered) -> Prompt:
        """Return the model's input.

        Raises:
            TemplateError: the rendered template cannot be said to this model.
        """
        if isinstance(rendered, str):
            return self._text(rendered)
        if isinstance(rendered, Dialogue):
            return self._dialogue(rendered)
        return self._messages(rendered)

    def _check_dictionary(self) -> None:
        if not isinstance(self.dialogues, DictMeta):
            return
        if self._api_form(self.dialogues):
            self.dialogues.check_api()
        else:
            self.dialogues.check_text()

    def _api_form(self, meta: DictMeta) -> bool:
        return self.messages_accepted and (meta.speaks_api or not self.text_accepted)

    def _check_raw(self) -> None:
        if self.messages_accepted:
            if isinstance(self.meta, DictMeta) and not self.meta.is_mapping and not self.rules.forms_may_mix:
                raise SpecError(
                    "meta_template is a mapping with texts of its own, which goes with PromptTemplate; "
                    "RawPromptTemplate needs a list of messages"
                )
        elif not isinstance(self.meta, DictMeta):
            raise SpecError(
                "the model takes text and has no meta_template to write role/content messages with; "
                "give it a mapping with 'round', use a chat model, or a PromptTemplate"
            )

    def _text(self, text: str) -> Prompt:
        if self.text_accepted and not (self.generate and self.messages_accepted):
            return Prompt(text=text)
        return Prompt(messages=({"role": "user", "content": text},))

    def _dialogue(self, dialogue: Dialogue) -> Prompt:
        if self.dialogues is None:
            return self._text(dialogue.joined(self.rules))
        if isinstance(self.dialogues, ListMeta):
            raise TemplateError("the model's meta_template is a list of messages, which a dialogue of roles cannot use")
        if not self._api_form(self.dialogues):
            return Prompt(text=self.dialogues.text(dialogue, self.generate))
        messages = self.dialogues.messages(dialogue, self.generate)
        return Prompt(messages=tuple(join_neighbours(messages, keep_empty=False) if self.chat else messages))

    def _messages(self, messages: Sequence[Message]) -> Prompt:
        if not self.messages_accepted:
            if not isinstance(self.meta, DictMeta):
                raise TemplateError("the model takes text and has no meta_template to write messages with")
            return Prompt(text=self.meta.wrap(messages, self.generate))
        return Prompt(messages=tuple(self.meta.apply(messages) if isinstance(self.meta, ListMeta) else messages))


def role_markers(meta_template: Json, role: str) -> tuple[str, str] | None:
    """Return the texts that open and close a role's turns in a model's text, or None where the meta_template does not declare it.

    Raises:
        SpecError: the meta_template is wrong.
    """
    return DictMeta(meta_template).markers(role) if isinstance(meta_template, dict) else None
