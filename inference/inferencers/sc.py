"""Self-consistency: several sampled answers to one question, of which the most frequent counts (Wang et al. 2023)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from inference.inferencers.gen import GenInferencer, checked_limit
from leaderflow.core.types import Json

TEMPERATURE, TOP_K = 0.7, 40
"""The sampling of the paper and of OpenCompass."""


class SCInferencer(GenInferencer):
    """Samples `sc_size` answers to each prompt. The vote over them is the metric ``majority@k`` of the cell.

    Args:
        sc_size: how many answers vote; by default the dataset's `n`.
        max_out_len: as for `GenInferencer`.
        stopping_criteria: as for `GenInferencer`.
        temperature: sampling temperature.
        top_p: as for `GenInferencer`.
        top_k: as for `GenInferencer`.
        seed: as for `GenInferencer`.
        generation_kwargs: as for `GenInferencer`.
        repeats: the dataset's `n`.

    Raises:
        SpecError: as for `GenInferencer`.
    """

    def __init__(
        self,
        sc_size: int | None = None,
        max_out_len: int | None = None,
        stopping_criteria: Sequence[str] | str = (),
        temperature: float = TEMPERATURE,
        top_p: float | None = None,
        top_k: int | None = TOP_K,
        seed: int | None = None,
        generation_kwargs: Mapping[str, Json] | None = None,
        repeats: int = 1,
    ) -> None:
        super().__init__(
            max_out_len=max_out_len,
            stopping_criteria=stopping_criteria,
            temperature=temperature,
            top_p=top_p,
            top_k=top_k,
            seed=seed,
            generation_kwargs=generation_kwargs,
            repeats=repeats if sc_size is None else checked_limit(sc_size, "sc_size"),
        )
