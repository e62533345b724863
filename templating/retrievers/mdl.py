"""Of several sets of near examples the one that makes the model surest of a label: minimum description length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from leaderflow.core.errors import BackendError, DataError, SpecError
from leaderflow.core.types import Answer, Capability, Json, Prompt, Request, Settings
from templating.retrievers.base import KEY, Context, Pool, Sample, at_least, checked_seed, generator
from templating.retrievers.embeddings import Space
from templating.retrievers.similar import TopkRetriever


class MDLRetriever(TopkRetriever):
    """The set of near rows under which the model's distribution over the labels has the least entropy.

    From Wu et al. 2023, "Self-Adaptive In-Context Learning". The sets are the nearest `ice_num` rows and `select_time` − 1 draws
    from the nearest `candidate_num`; equal entropies leave the earlier one. A label's weight is natively the likelihood of what
    sets its prompt apart from the other labels'; as recorded, the mean likelihood of a token after the examples.

    Args:
        context: handed over by leaderflow.
        ice_num: how many examples.
        candidate_num: how many of the nearest rows are looked at; at least `ice_num`.
        select_time: how many sets are compared.
        ice_template: replaces ``infer_cfg.ice_template`` for the comparison.
        prompt_template: replaces ``infer_cfg.prompt_template`` for the comparison.
        labels: the labels; by default those of the templates.
        seed: another seed draws other sets.
        ce_model_name: changes nothing, because leaderflow asks the evaluated model; accepted for OpenCompass' configurations.
        sentence_transformers_model_name: see `TopkRetriever`.
        tokenizer_name: see `TopkRetriever`.
        batch_size: see `TopkRetriever`.
        ice_separator: see `ExampleRetriever`.
        ice_eos_token: see `ExampleRetriever`.
    """

    needs: ClassVar[frozenset[Capability]] = frozenset({"embed", "loglikelihood"})

    def __init__(
        self,
        context: Context,
        ice_num: int = 1,
        candidate_num: int = 1,
        select_time: int = 5,
        ice_template: Json = None,
        prompt_template: Json = None,
        labels: list[str] | None = None,
        seed: int = 1,
        ce_model_name: str = "gpt2-xl",
        sentence_transformers_model_name: str = "all-mpnet-base-v2",
        tokenizer_name: str = "gpt2-xl",
        batch_size: int = 1,
        ice_separator: str = "\n",
        ice_eos_token: str = "\n",
    ) -> None:
        super().__init__(context, ice_num, ice_separator=ice_separator, ice_eos_token=ice_eos_token)
        self.candidate_num = at_least("candidate_num", candidate_num, self.ice_num)
        self.select_time = at_least("select_time", select_time, 1)
        self.seed = checked_seed(seed)

    def choose(self, samples: Sequence[Sample], pool: Pool, space: Space, barred: Sequence[set[int]]) -> list[list[int]]:
        """Return the positions of the best set of every sample."""
        near = space.search(self.candidate_num, barred)
        if short := [len(found) for found in near if len(found) < self.ice_num]:
            raise DataError(f"{KEY}: ice_num is {self.ice_num}, but only {short[0]} rows of the pool can serve")
        sets = self._recorded_sets(near) if self.context.compat else self._native_sets(samples, near)
        pairs = [(index, positions) for index, tried in enumerate(sets) for positions in tried]
        surprise = iter(self._entropies([samples[index] for index, _ in pairs], pool, [positions for _, positions in pairs]))
        return [min(tried, key=lambda positions: next(surprise)) for tried in sets]

    def _native_sets(self, samples: Sequence[Sample], near: list[list[int]]) -> list[list[list[int]]]:
        draws = [generator("mdl", self.seed, sample_id) for sample_id, _ in samples]
        times = range(self.select_time - 1)
        return [
            [found[: self.ice_num], *(draw.sample(found, self.ice_num) for _ in times)]
            for found, draw in zip(near, draws, strict=True)
        ]

    def _recorded_sets(self, near: list[list[int]]) -> list[list[list[int]]]:
        stream = np.random.RandomState(self.seed)
        times = range(self.select_time - 1)
        return [
            [found[: self.ice_num], *(stream.choice(found, self.ice_num, replace=False).tolist() for _ in times)] for found in near
        ]

    def _entropies(self, samples: list[Sample], pool: Pool, sets: list[list[int]]) -> list[float]:
        """Return the entropy of the labels for each sample with a set of examples, in nats."""
        assert self.context.loglikelihood is not None, "checked by `retrieval.retrieve`"
        prompts = self._prompts(samples, [[pool.ids[position] for position in positions] for positions in sets])
        requests = [
            Request(f"{index}:{label}", prompt, Settings())
            for index, labelled in enumerate(prompts)
            for label, prompt in labelled.items()
        ]
        answers = {answer.request_key: self._nll(answer) for answer in self.context.loglikelihood(requests)}
        return [entropy([answers[f"{index}:{label}"] for label in labelled]) for index, labelled in enumerate(prompts)]

    def _prompts(self, samples: list[Sample], example_ids: list[list[str]]) -> list[dict[str, Prompt]]:
        assert self.context.render is not None, "given by `retrieval.context`"
        whole = self.context.render(samples, example_ids)
        if not self.context.compat:
            return [apart(texts) for texts in whole]
        bare = self.context.render(samples, [[] for _ in samples])
        return [after_examples(texts, without) for texts, without in zip(whole, bare, strict=True)]

    def _nll(self, answer: Answer) -> float:
        if answer.nll is None or not answer.scored_tokens:
            raise BackendError(f"{KEY}: the model could not score a set of examples: {answer.error or answer.status}")
        return answer.nll / answer.scored_tokens if self.context.compat else answer.nll


def apart(texts: Mapping[str, str]) -> dict[str, Prompt]:
    """Put the border between context and continuation where the labels' texts part, before the word that differs.

    What all labels share has the same likelihood, so that only the rest tells them apart.

    Raises:
        SpecError: all labels read the same.
    """
    first, last = min(texts.values()), max(texts.values())
    if first == last and len(texts) > 1:
        raise SpecError("MDLRetriever compares labels, so the template must map each label to its own text", key=KEY)
    parting = next((index for index, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    border = max((index for index, character in enumerate(first[:parting]) if character.isspace()), default=0)
    return {label: _cut(text, border) for label, text in texts.items()}


def after_examples(texts: Mapping[str, str], bare: Mapping[str, str]) -> dict[str, Prompt]:
    """Put the border after the examples: before what the text is without them, where it ends so."""
    lengths = {label: len(text) - len(bare[label]) if text.endswith(bare[label]) else 0 for label, text in texts.items()}
    return {label: _cut(text, lengths[label]) for label, text in texts.items()}


def _cut(text: str, border: int) -> Prompt:
    return Prompt(text=text[:border], continuation=text[border:]) if border else Prompt(text=text)


def entropy(nlls: Sequence[float]) -> float:
    """Return the entropy in nats of the distribution whose weights are exp(−nll), rounded to 9 digits."""
    logits = -np.asarray(nlls, dtype=np.float64)
    weights = np.exp(logits - logits.max())
    shares = weights / weights.sum()
    return float(np.round(-np.sum(shares * np.log(np.maximum(shares, 1e-300))), 9))
