"""``LMEvaluator`` of OpenCompass: judges of open answers, one by one or in pairs of models."""

from __future__ import annotations

import random
from collections.abc import Sequence

from evaluators.base import Evaluator
from evaluators.judges.base import JudgeNames, named
from evaluators.judges.pairwise import FIRST, ORDERS, SECOND, PairwiseJudge
from evaluators.judges.recorded import SingleScores
from evaluators.judges.rivals import EVERY_OTHER
from leaderflow.core.errors import SpecError
from leaderflow.core.types import Item, Json, Judging, Row

MODES = ("singlescore", "m2n", "allpair")
INFER_ORDERS = ("random", "double")
SEED = 666
"""What OpenCompass seeds its random order with."""


def lm_evaluator(
    prompt_template: dict[str, Json],
    dataset_cfg: dict[str, Json] | None = None,
    judge_cfg: JudgeNames = None,
    dict_postprocessor: dict[str, Json] | None = None,
    keep_predictions: bool = False,
    pack_all_predictions: bool | str = False,
    meta_review_prompt_template: dict[str, Json] | None = None,
    mode: str = "singlescore",
    infer_order: str = "random",
    base_models: Sequence[str] = (),
) -> Evaluator:
    """Return the judge of a mode: a score an answer, or pairs with the answers of other models.

    Args:
        prompt_template: the judge's template; pairs are shown as ``{prediction}`` and ``{prediction2}``.
        dataset_cfg: not needed: the rows are those that were evaluated.
        judge_cfg: the judge's model block; empty: the run's judges.
        dict_postprocessor: single scores: replies → metrics. Pairs are read by our own strict reader.
        keep_predictions: changes no score.
        pack_all_predictions: judging of whole conversations in one reply; refused.
        meta_review_prompt_template: judging of judges; refused.
        mode: ``singlescore``, ``m2n`` (each model against `base_models`) or ``allpair`` (each against each).
        infer_order: pairs: ``double`` asks in both orders, ``random`` in one that is drawn for each sample.
        base_models: the models of the run that all others are compared with.

    Raises:
        SpecError: a mode or order that there is not, or arguments that do not go together.
    """
    if meta_review_prompt_template:
        raise SpecError("judges of judges are not asked: several judges decide together", key="meta_review_prompt_template")
    if pack_all_predictions:
        raise SpecError("a conversation is not judged turn by turn; judge whole answers", key="pack_all_predictions")
    if mode not in MODES:
        raise SpecError(f"unknown mode {mode!r}; there are {', '.join(MODES)}", key="mode")
    if mode == "singlescore":
        return SingleScores(prompt_template, dataset_cfg, judge_cfg, dict_postprocessor)
    if infer_order not in INFER_ORDERS:
        raise SpecError(f"unknown infer_order {infer_order!r}; there are {', '.join(INFER_ORDERS)}", key="infer_order")
    if dict_postprocessor:
        raise SpecError("pairs are summed up as win_rate, without another summary", key="dict_postprocessor")
    if (mode == "m2n") != bool(base_models):
        raise SpecError("m2n, and only m2n, compares with base_models", key="base_models")
    return Pairs(prompt_template, judge_cfg, tuple(base_models) or (EVERY_OTHER,), infer_order)


class Pairs(PairwiseJudge):
    """Share of won comparisons with other models' answers by a template of OpenCompass; 0–100, metrics as `PairwiseJudge`.

    Recorded: the answers stand as they are in ``{prediction}`` and ``{prediction2}``, and ``{reference}`` is blank in a legacy
    template. Ours: verdicts are read by `preference`, and a random order depends on the sample and the pair alone.
    """

    def __init__(self, prompt_template: dict[str, Json], judge_cfg: JudgeNames, rivals: tuple[str, ...], infer_order: str) -> None:
        super().__init__(against=rivals, swap=infer_order == "double")
        self.needs, self.uses_references = frozenset(), False
        template = {**prompt_template, "type": str(prompt_template["type"]).rsplit(".", 1)[-1]}
        self.judging = Judging(
            template=template,
            judges=named(judge_cfg or None),
            reader={"type": "preference"},
            blank="reference",
            compat="opencompass",
            rivals=rivals,
        )

    def orders(self, item: Item, rival: str) -> list[str]:
        """Return both orders, or the one that is drawn for the pair."""
        if self.swap:
            return list(ORDERS)
        return [random.Random(f"{SEED} {item.sample_id} {item.repeat} {rival}").choice((FIRST, SECOND))]

    def row(self, item: Item, text: str, **more: Json) -> Row:
        """Return the sample's columns and those of the pair."""
        return {**item.row, **more}

    def shown_pair(self, first: str, second: str, order: str) -> dict[str, Json]:
        """Return the two answers, and which of them is the evaluated model's."""
        return {"prediction": first, "prediction2": second, "reference": order}
