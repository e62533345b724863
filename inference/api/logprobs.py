"""Log-likelihoods from a completions reply.

A token belongs to the continuation if it holds at least one of its characters; so a token across the border counts. The first token
of a text has no likelihood and never counts. Tokens that the server generated behind the prompt never count either.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, Literal

from inference.api.errors import malformed
from inference.api.reply import count_of, first_choice
from leaderflow.core.types import Answer, Json, Prompt, Request

Form = Literal["echo", "prompt_logprobs"]

_PIECE = "\ufffd"
"""What a piece of a character is decoded to."""


def full_text(prompt: Prompt) -> str:
    """Return the whole text whose tokens are scored."""
    return (prompt.text or "") + (prompt.continuation or "")


def likelihood(request: Request, body: bytes, form: Form) -> Answer:
    """Return the answer with `nll`, `scored_tokens` and `token_logprobs` of the continuation, or of the whole text.

    Raises:
        Fault: the body is malformed, or holds no log-probabilities of the prompt.
    """
    choice, usage = first_choice(body)
    text = full_text(request.prompt)
    border = len(text) - len(request.prompt.continuation) if request.prompt.continuation is not None else 0
    pick = _echoed if form == "echo" else _prompt_entries
    try:
        values = pick(choice, text, border)
    except (KeyError, TypeError, IndexError, AttributeError, ValueError) as exc:
        raise malformed(f"no log-probabilities of the prompt ({type(exc).__name__}: {exc})") from None
    return scored(request, values, prompt_tokens=count_of(usage.get("prompt_tokens")))


def scored(request: Request, values: Sequence[float], prompt_tokens: int | None, output_tokens: int | None = None) -> Answer:
    """Return the answer with the log-probabilities of what is scored, in nats.

    Raises:
        Fault: there is none, or one that is no finite number.
    """
    if not values:
        raise malformed("no log-probabilities of the continuation")
    if not all(map(math.isfinite, values)):
        raise malformed("a log-probability that is no finite number")
    logprobs = tuple(values)
    return Answer(
        request.request_key,
        "ok",
        nll=-sum(logprobs),
        scored_tokens=len(logprobs),
        token_logprobs=logprobs,
        prompt_tokens=prompt_tokens,
        output_tokens=output_tokens,
    )


def _echoed(choice: Mapping[str, Any], text: str, border: int) -> list[float]:
    """OpenAI's form: parallel lists `tokens`, `token_logprobs` and `text_offset` (in characters) of prompt and generated text."""
    found = choice["logprobs"]
    tokens, values = found["tokens"], found["token_logprobs"]
    whole = str(choice.get("text"))
    spelt = whole.startswith(text) and len(tokens) == len(values)
    if spelt and (places := scored_places(tokens, whole, border, len(text))) is not None:
        return [float(values[place]) for place in places if values[place] is not None]
    starts = _starts(tokens, text)
    if starts is None:
        starts = [*found["text_offset"]]
    ends = [*starts[1:], starts[-1] + len(tokens[-1])]
    return [
        float(value)
        for value, start, end in zip(values, starts, ends, strict=True)
        if value is not None and end > border and start < len(text)
    ]


def _starts(tokens: Sequence[str], text: str) -> list[int] | None:
    """Return where each token starts in the text, a beginning-of-text token before it; None if the tokens do not spell the text."""
    for special in (0, 1):
        if "".join(tokens[special:]).startswith(text):
            shift = -sum(len(token) for token in tokens[:special])
            return [shift, *(shift + end for end in accumulate(len(token) for token in tokens))][:-1]
    return None


def _prompt_entries(choice: Mapping[str, Any], text: str, border: int) -> list[float]:
    """VLLM's form: for each prompt token null or {token id: {logprob, decoded_token}}."""
    entries = [_entry(entry) for entry in choice["prompt_logprobs"]]
    tokens = [token for token, _ in entries]
    places = scored_places(tokens, text, border, len(text))
    if places is None:  # raw tokens, say, whose texts are not the text's: their lengths must do
        lengths = accumulate(len(token) for token in reversed(tokens))
        behind = [0, *lengths][:-1]
        places = [place for place, after in zip(reversed(range(len(tokens))), behind, strict=True) if after < len(text) - border]
        places.reverse()
    return [value for place in places if (value := entries[place][1]) is not None]


def scored_places(tokens: Sequence[str], whole: str, border: int, stop: int) -> list[int] | None:
    """Return which tokens hold text between `border` and `stop`, or None if they do not spell the end of `whole`.

    Tokens are matched from the end. Pieces of a character are shown as U+FFFD, or as nothing up to the last one: an empty token
    belongs to the character behind it, a run of U+FFFD to all between the tokens around it.
    """
    found: list[int] = []
    at, place = len(whole), len(tokens)
    while place and (at > border or (at == border and not tokens[place - 1])):
        place -= 1
        run, token = [place], tokens[place]
        if whole.endswith(token, 0, at):
            at -= len(token)
        elif _PIECE in token:
            while place and _PIECE in tokens[place - 1]:
                place -= 1
                run.append(place)
            before = next((text for text in reversed(tokens[:place]) if text), "")
            at = _end_of(before, whole[: max(0, at - 1)])
        else:
            return None
        found += run if at < stop else []
    return found[::-1] if at <= border else None


def _end_of(token: str, text: str) -> int:
    """Return where a token's last occurrence in a text ends; 0 where there is none."""
    return text.rfind(token) + len(token) if token and token in text else 0


def _entry(entry: Json) -> tuple[str, float | None]:
    if entry is None:
        return "", None
    found = next(iter(entry.values()))
    return found["decoded_token"] or "", float(found["logprob"])
