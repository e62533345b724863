"""Generation of a batch: greedy or sampled, stop strings, and what each row's answer is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from inference.api.reply import Style
from inference.huggingface.tokens import Tokens
from leaderflow.core.errors import SpecError, did_you_mean
from leaderflow.core.reasoning import split_reasoning
from leaderflow.core.types import Settings

_OURS = {
    "max_new_tokens",
    "max_length",
    "min_new_tokens",
    "min_length",
    "eos_token_id",
    "pad_token_id",
    "stop_strings",
}


@dataclass(frozen=True, slots=True)
class Generation:
    """A row to continue: its ids, the seed of its sampling, and the settings that all rows of a batch have in common."""

    ids: tuple[int, ...]
    seed: int
    settings: Settings
    style: Style
    limit: int
    """How many tokens it may have: `max_out_len`, or less where the context ends."""


@dataclass(frozen=True, slots=True)
class Text:
    """What came: the text, stop string included, whether it ended before the limit, and its tokens."""

    text: str
    ended: bool
    tokens: int


def check_settings(settings: Settings) -> None:
    """Refuse settings that Transformers does not know.

    Raises:
        SpecError: an empty stop string, or a name in `extra` that GenerationConfig lacks or that has a setting of its own.
    """
    if "" in settings.stop:
        raise SpecError("a stop string must not be empty: it would end every answer at once", key="stop")
    known = [name for name in generation_config().to_dict() if name not in _OURS]
    for name in settings.extra:
        if name not in known:
            raise SpecError(f"Transformers has no setting {name!r}{did_you_mean(name, known)}", key=f"generation_kwargs.{name}")


def generate(model: Any, tokens: Tokens, rows: Sequence[Generation], eos: Sequence[int]) -> list[Text]:
    """Continue rows of one batch, padded on the left, each until an end token, a stop string or the limit.

    Args:
        model: a causal language model.
        tokens: its tokenizer.
        rows: rows that share settings and limit.
        eos: ids that end a turn.
    """
    import torch

    settings, limit = rows[0].settings, rows[0].limit
    ends = sorted({*eos, *tokens.special(settings.stop)})
    pad = ends[0] if ends else 0
    longest = max(len(row.ids) for row in rows)
    ids = torch.tensor([[pad] * (longest - len(row.ids)) + list(row.ids) for row in rows], device=model.device)
    mask = torch.tensor([[0] * (longest - len(row.ids)) + [1] * len(row.ids) for row in rows], device=model.device)
    config = generation_config(
        max_new_tokens=limit,
        min_new_tokens=min(settings.min_out_len, limit) if settings.min_out_len else None,
        eos_token_id=ends or None,
        pad_token_id=pad,
        **{name: value for name, value in settings.extra.items() if name != "do_sample"},
    )
    with torch.inference_mode():
        out = model.generate(
            ids,
            attention_mask=mask,
            generation_config=config,
            logits_processor=_sampler(rows, settings),
            stopping_criteria=_stop_on_text(tokens, settings, rows[0].style, longest),
        )
    return [_read(tokens, line, set(ends), limit) for line in out[:, longest:].tolist()]


def generation_config(**values: Any) -> Any:
    """Return Transformers' GenerationConfig."""
    from transformers import GenerationConfig

    make: Any = GenerationConfig
    return make(**values)


def _read(tokens: Tokens, ids: list[int], ends: set[int], limit: int) -> Text:
    """Return the text of generated ids up to the first end token."""
    length = next((i for i, token in enumerate(ids) if token in ends), len(ids))
    return Text(tokens.decode(ids[:length]), length < len(ids) or len(ids) < limit, length)


def _stop_on_text(tokens: Tokens, settings: Settings, style: Style, prompt: int) -> list[Any]:
    import torch
    from transformers import StoppingCriteria

    stops, least = settings.stop, settings.min_out_len or 0
    # Every token is at least one byte, so a stop that has just been completed lies within this many.
    tail = max((len(stop.encode()) for stop in stops), default=0) + 4

    class StopOnText(StoppingCriteria):
        def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
            if input_ids.shape[1] - prompt < least:
                return torch.zeros(len(input_ids), dtype=torch.bool, device=input_ids.device)
            ends = [tokens.decode(row) for row in input_ids[:, max(prompt, input_ids.shape[1] - tail) :].tolist()]
            said = [input_ids[i, prompt:].tolist() if _holds(stops, end) else [] for i, end in enumerate(ends)]
            done = [_holds(stops, _answer(tokens.decode(ids), style)) for ids in said]
            return torch.tensor(done, device=input_ids.device)

    return [StopOnText()] if stops else []


def _holds(stops: Sequence[str], text: str) -> bool:
    return any(stop in text for stop in stops)


def _answer(text: str, style: Style) -> str:
    """Return what has been said after the thinking: a stop string inside it ends nothing."""
    thought, answer = split_reasoning(text, style.tags)
    return "" if answer is None or (style.thinks and thought is None) else answer


def _sampler(rows: Sequence[Generation], settings: Settings) -> list[Any]:
    """Return the processors that make the arg max of a greedy search a draw; none for greedy.

    The arg max of log-probabilities plus Gumbel noise is a draw from them (Gumbel, 1954). The noise of a row comes from its own
    seed, so a row draws the same answer in whatever batch it lands.
    """
    import torch
    from transformers import LogitsProcessor, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

    default = 1.0 if settings.extra.get("do_sample") else 0.0
    temperature = default if settings.temperature is None else settings.temperature
    if temperature <= 0:
        return []
    generators = [torch.Generator().manual_seed(row.seed) for row in rows]

    class GumbelNoise(LogitsProcessor):
        def __call__(self, input_ids: Any, scores: Any) -> Any:
            noise = torch.stack([torch.empty(scores.shape[1]).exponential_(generator=g) for g in generators])
            return scores.float() - noise.log().to(scores.device)

    warpers: list[Any] = [TemperatureLogitsWarper(float(temperature))]
    warpers += [TopKLogitsWarper(settings.top_k)] if settings.top_k else []
    warpers += [TopPLogitsWarper(settings.top_p)] if settings.top_p is not None and settings.top_p < 1 else []
    return [*warpers, GumbelNoise()]
