"""Exact log-likelihoods of tokens; rows with a common prefix compute it once.

Sums are equal to the plain path's up to the float's rounding (1e-3 in fp32): the key-value cache of the prefix holds what a pass
over the whole row would compute again.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from inference.huggingface.batching import common_prefix

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True)
class Scored:
    """A row to score: its ids, and the position of the first one that counts (at least 1)."""

    ids: tuple[int, ...]
    start: int


def plain(model: Any, rows: Sequence[Scored], pad: int) -> list[list[float]]:
    """Return each row's log-probabilities in nats, from `start` on, by one padded pass."""
    import torch

    ids, mask = _padded([row.ids for row in rows], pad, model.device)
    first = min(row.start for row in rows) - 1
    keep = ids.shape[1] - 1 - first
    with torch.inference_mode():
        logits = model(input_ids=ids[:, :-1], attention_mask=mask[:, :-1], use_cache=False, logits_to_keep=keep).logits
        found = _chosen(logits, ids[:, first + 1 :])
    return [line[row.start - 1 - first : len(row.ids) - 1 - first] for row, line in zip(rows, found, strict=True)]


def shared(model: Any, groups: Sequence[Sequence[Scored]], pad: int) -> list[list[list[float]]]:
    """Return what `plain` returns, for groups of rows that share a prefix: one pass over the prefixes, one over all the rests."""
    import torch

    prefixes = [_prefix(group) for group in groups]
    with torch.inference_mode():
        head = _Heads(model, groups, prefixes, pad)
        tails = _tails(model, head, [[row.ids[p:] for row in g] for g, p in zip(groups, prefixes, strict=True)], pad)
    result, at = [], 0
    for group, p, inside in zip(groups, prefixes, head.logprobs, strict=True):
        lines = [inside + tail for tail in tails[at : at + len(group)]]
        skipped = p - len(inside)
        result.append([line[row.start - skipped : len(row.ids) - skipped] for row, line in zip(group, lines, strict=True)])
        at += len(group)
    return result


def can_share(model: Any) -> bool:
    """Return whether the model's cache is plain keys and values in every layer, which can be copied row by row."""
    from transformers.cache_utils import DynamicCache, DynamicLayer

    layers = DynamicCache(config=model.config).layers
    return bool(layers) and all(type(layer) is DynamicLayer for layer in layers)


class _Heads:
    """The pass over the prefixes, padded on the left so that every row's rest follows its prefix directly.

    `logprobs` holds per group those of its prefix's last tokens, back to the first one that any row counts.
    """

    def __init__(self, model: Any, groups: Sequence[Sequence[Scored]], prefixes: Sequence[int], pad: int) -> None:
        from transformers import DynamicCache

        self.lengths = prefixes
        heads = [group[0].ids[:p] for group, p in zip(groups, prefixes, strict=True)]
        ids, self.mask = _padded(heads, pad, model.device, left=True)
        positions = (self.mask.cumsum(-1) - 1).clamp(min=0)
        counted = [max(p - min(row.start for row in group), 0) for group, p in zip(groups, prefixes, strict=True)]
        keep, cache = max(counted) + 1, DynamicCache(config=model.config)
        out = model(
            input_ids=ids,
            attention_mask=self.mask,
            position_ids=positions,
            use_cache=True,
            logits_to_keep=keep,
            **_with(model, cache),
        )
        self.cache, self.last = cache, out.logits[:, -1:]
        lines = _chosen(out.logits[:, :-1], ids[:, ids.shape[1] - keep + 1 :]) if keep > 1 else [[] for _ in heads]
        self.logprobs = [line[len(line) - n :] for line, n in zip(lines, counted, strict=True)]


def _tails(model: Any, head: _Heads, groups: Sequence[Sequence[Sequence[int]]], pad: int) -> list[list[float]]:
    """Return the log-probabilities of all rests, row after row; padding at their ends is left for the caller to cut."""
    import torch

    device = model.device
    owner = torch.tensor([g for g, rests in enumerate(groups) for _ in rests], device=device)
    ids, mask = _padded([rest for rests in groups for rest in rests], pad, device)
    first = _chosen(head.last[owner], ids[:, :1])
    if ids.shape[1] == 1:
        return first  # the prefix has predicted everything
    head.cache.batch_select_indices(owner)
    begin = torch.tensor(head.lengths, device=device)[owner, None]
    steps = torch.arange(ids.shape[1] - 1, device=device)
    out = model(
        input_ids=ids[:, :-1],
        attention_mask=torch.cat([head.mask[owner], mask[:, :-1]], dim=1),
        position_ids=begin + steps,
        use_cache=True,
        **_with(model, head.cache),
    )
    return [a + b for a, b in zip(first, _chosen(out.logits, ids[:, 1:]), strict=True)]


def _with(model: Any, cache: Any) -> dict[str, Any]:
    """Return the cache under the name that the model's `forward` has for it (`cache` since Transformers 5.24)."""
    name = "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"
    return {name: cache}


def _prefix(group: Sequence[Scored]) -> int:
    """Return the length of a group's prefix; every row keeps one token of its own, so that equal rows need no special case."""
    first = group[0].ids
    return min(min(common_prefix(first, row.ids), len(row.ids) - 1) for row in group)


def _padded(rows: Sequence[Sequence[int]], pad: int, device: Any, *, left: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    import torch

    longest = max(len(row) for row in rows)
    blanks = [[pad] * (longest - len(row)) for row in rows]
    ids = [b + list(r) if left else list(r) + b for r, b in zip(rows, blanks, strict=True)]
    mask = [[0] * len(b) + [1] * len(r) if left else [1] * len(r) + [0] * len(b) for r, b in zip(rows, blanks, strict=True)]
    return torch.tensor(ids, device=device), torch.tensor(mask, device=device)


def _chosen(logits: torch.Tensor, ids: torch.Tensor) -> list[list[float]]:
    """Return log p of each id (rows × tokens) in fp32; row by row, because a copy of all logits can be the largest tensor."""
    found = []
    for row, wanted in zip(logits, ids, strict=True):
        scores = row.float()
        picked = scores.gather(-1, wanted.to(scores.device)[:, None]).squeeze(-1)
        found.append((picked - scores.logsumexp(-1)).tolist())
    return found
