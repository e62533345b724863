"""The tokenizer: prompts to token ids, with the chat template, as generation, scoring and counting all see them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from inference.huggingface.batching import common_prefix
from inference.huggingface.extra import require
from inference.huggingface.fingerprint import files_digest
from inference.huggingface.weights import first_line, locate
from leaderflow.core.errors import BackendError
from leaderflow.core.specs import ModelSpec
from leaderflow.core.types import Json, Message, Prompt

_TOKENIZER_FILES = "tokenizer|vocab|merges|special_tokens|added_tokens|chat_template|spiece|sentencepiece"
"""How the files begin that make a tokenizer."""

_PROBE = "system-role-probe"


class PromptError(Exception):
    """A prompt that this tokenizer can never encode; its row is rejected with this text."""


class Tokens:
    """Encodes prompts of one model; safe to use from several threads. The tokenizer is loaded when it is first needed.

    Args:
        load: returns a Transformers tokenizer.
        chat: put messages through the chat template; otherwise messages are refused.
        identity: names the tokenizer's files.
    """

    def __init__(self, load: Callable[[], Any], *, chat: bool, identity: str) -> None:
        self.chat, self.identity = chat, identity
        self._load = load
        self._loaded: Any = None
        self._lock = threading.RLock()  # a fast tokenizer must not be used by two threads at once
        self._knows_system: bool | None = None

    @property
    def tokenizer(self) -> Any:
        """The Transformers tokenizer.

        Raises:
            BackendError: it cannot be loaded, or has no chat template where one is needed.
        """
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def count(self, prompt: Prompt) -> int:
        """Return how many tokens the model reads: the prompt and, where there is one, its continuation."""
        return len(self.encode(prompt))

    def text(self, prompt: Prompt) -> str:
        """Return what the chat template makes of a prompt, its continuation at the end.

        Raises:
            PromptError: messages that the chat template refuses, or content that is no text.
        """
        return self._render(prompt)[0] + (prompt.continuation or "")

    def encode(self, prompt: Prompt) -> list[int]:
        """Return the ids of a prompt (continuation included): what the model reads before it answers.

        Raises:
            PromptError: messages that the chat template refuses, or content that is no text.
        """
        text, special = self._render(prompt)
        return self._ids(text + (prompt.continuation or ""), special)

    def encode_scored(self, prompt: Prompt) -> tuple[list[int], int]:
        """Return the ids of a prompt to be scored and the position of the first id that counts.

        The whole is encoded at once, as a model reads it; the border is where it parts from the encoding of the context alone. So a
        token that spans the border (with a trailing blank of the context, say) counts as the continuation's. Without a continuation
        everything after the first id counts. Nothing predicts a first token: for an empty context the BOS (or EOS) token stands.

        Raises:
            PromptError: as for `encode`, or nothing that can be scored.
        """
        text, special = self._render(prompt, scored=True)
        whole = self._ids(text + (prompt.continuation or ""), special)
        if prompt.continuation is None:
            start = 1
        else:
            start = common_prefix(whole, self._ids(text, special))
            if start == 0:
                whole, start = [*self._context_token(), *whole], 1
        if len(whole) <= start:
            raise PromptError("there is no token whose likelihood could count")
        return whole, start

    def encode_text(self, text: str) -> list[int]:
        """Return the ids of a bare text with the tokenizer's own special tokens; BOS or EOS for an empty one."""
        return self._ids(text, True) or self._context_token()

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of generated ids, special tokens left out."""
        with self._lock:
            return self.tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)  # type: ignore[no-any-return]

    def special(self, stops: Collection[str]) -> list[int]:
        """Return the special tokens that stop strings begin with: they never show in decoded text."""
        with self._lock:
            added = self.tokenizer.get_added_vocab()
        return [number for text, number in added.items() if any(stop.startswith(text) for stop in stops)]

    def _context_token(self) -> list[int]:
        found = next((i for i in (self.tokenizer.bos_token_id, self.tokenizer.eos_token_id) if i is not None), None)
        if found is None:
            raise PromptError("the context is empty and the tokenizer has no BOS or EOS token to stand for it")
        return [found]

    def _ids(self, text: str, special: bool) -> list[int]:
        with self._lock:
            return self.tokenizer(text, add_special_tokens=special)["input_ids"]  # type: ignore[no-any-return]

    def _render(self, prompt: Prompt, *, scored: bool = False) -> tuple[str, bool]:
        """Return a prompt's text without its continuation, and whether the tokenizer adds BOS (a template writes its own)."""
        if prompt.messages is None:
            return prompt.text or "", True
        if not self.chat:
            raise PromptError("a base model takes text; use HuggingFacewithChatTemplate for messages")
        messages = [_plain(message) for message in prompt.messages]
        open_turn = messages[-1:] and messages[-1]["role"] == "assistant"
        if open_turn and not messages[-1]["content"]:
            messages, open_turn = messages[:-1], False  # the slot is what the model is about to fill
        if scored and prompt.continuation is None:
            return self._template(messages), False
        ending = "continue_final_message" if open_turn else "add_generation_prompt"
        return self._template(messages, **{ending: True}), False

    def _template(self, messages: list[dict[str, str]], **options: bool) -> str:
        system = [m["content"].strip() for m in messages if m["role"] == "system"]
        if not system:
            return self._apply(messages, **options)
        try:
            text = self._apply(messages, **options) if self.knows_system() else ""
        except PromptError:  # it knows one system message, at the beginning, say
            text = ""
        if all(content in text for content in system) and text:
            return text
        return self._apply(_merge_system(messages), **options)

    def _apply(self, messages: list[dict[str, str]], **options: bool) -> str:
        tokenizer = self.tokenizer
        try:
            with self._lock:
                return tokenizer.apply_chat_template(messages, tokenize=False, **options)  # type: ignore[no-any-return]
        except Exception as exc:  # a template is a program of its own: jinja2, ValueError, whatever it raises
            raise PromptError(f"the chat template refuses these messages: {first_line(exc)}") from exc

    def knows_system(self) -> bool:
        """Return whether the chat template shows a system message; one that raises or drops it does not."""
        if self._knows_system is None:
            probe = [{"role": "system", "content": _PROBE}, {"role": "user", "content": "?"}]
            try:
                self._knows_system = _PROBE in self._apply(probe)
            except PromptError:
                self._knows_system = False
        return self._knows_system


def load_tokens(folder: Path, *, chat: bool, gguf_file: str | None = None) -> Tokens:
    """Return the tokenizer of a folder; nothing is loaded yet."""
    require("transformers")
    identity = files_digest(folder, _TOKENIZER_FILES) if gguf_file is None else files_digest(folder, gguf_file)
    return Tokens(lambda: _load_tokenizer(folder, chat, gguf_file), chat=chat, identity=identity)


def _load_tokenizer(folder: Path, chat: bool, gguf_file: str | None) -> Any:
    from transformers import AutoTokenizer

    options = {"gguf_file": gguf_file} if gguf_file else {}
    try:
        tokenizer = AutoTokenizer.from_pretrained(str(folder), **options)
    except Exception as exc:  # OSError, ValueError, KeyError, ImportError, by tokenizer
        raise BackendError(f"cannot load the tokenizer of {folder}: {first_line(exc)}") from exc
    if chat and not tokenizer.chat_template:
        raise BackendError(f"{folder} has no chat template; use HuggingFaceBaseModel, or put a chat_template.jinja into the folder")
    return tokenizer


def token_counter(spec: ModelSpec) -> Tokens | None:
    """Return the counter of a model block's tokens, or None where nothing says which tokenizer counts.

    Local weights have their own; an API model counts by the folder or hub id under `tokenizer:`.
    """
    local = spec.type.startswith("HuggingFace")
    path = spec.tokenizer or (spec.path if local else None)
    if path is None:
        return None
    folder = locate(path, spec.revision if local and not spec.tokenizer else None)
    gguf_file: Json = spec.arguments.get("gguf_file") if local else None
    chat = spec.type != "HuggingFaceBaseModel" and spec.arguments.get("route") != "completions"
    return load_tokens(folder, chat=chat, gguf_file=gguf_file)


def _plain(message: Message | Mapping[str, Any]) -> dict[str, str]:
    content = message["content"]
    if not isinstance(content, str):
        kinds = [part.get("type") for part in content]
        if other := next((kind for kind in kinds if kind != "text"), None):
            raise PromptError(f"this model takes text only, the message holds a part of type {other!r}")
        content = "".join(str(part["text"]) for part in content)
    return {"role": message["role"], "content": content}


def _merge_system(messages: list[dict[str, str]]) -> list[dict[str, str]]:
    """Put each system message before the next user turn: an instruction changes scores, so it is never dropped."""
    merged: list[dict[str, str]] = []
    turns = iter(messages)
    for message in turns:
        said = [message["content"]]
        while message["role"] == "system" and (after := next(turns, None)) is not None:
            if after["role"] == "assistant":
                merged.append({"role": "user", "content": "\n\n".join(said)})
            else:
                said.append(after["content"])
            message = after
        role = "user" if message["role"] == "system" else message["role"]
        merged.append({"role": role, "content": message["content"] if role == "assistant" else "\n\n".join(said)})
    return merged
