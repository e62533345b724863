"""Judges under the names of OpenCompass: configurations as OpenCompass writes them.

Recorded: the judge's rows have the columns ``prediction`` (after postprocessing), ``obj_gold`` and ``reference`` beside the
dataset's own; `reference` is the output column, so ``{reference}`` is blank in a legacy template; `dict_postprocessor` turns all
replies into metrics. Ours on purpose: rows without an answer are not sent to the judge and count as an empty reply; the judge's
rows are always the rows that were evaluated, whatever `dataset_cfg` says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from evaluators.base import Evaluator, Rating
from evaluators.extractors.verdict import rating as rating_verdict
from evaluators.extractors.verdict import verdict
from evaluators.judges.base import Judge, JudgeNames, Verdicts, majority, named, verdicts_of
from evaluators.judges.cascade import COUNTS
from evaluators.judges.shown import shown_text
from evaluators.metrics import metrics_of
from evaluators.rated import Rated
from evaluators.ratings import Ratings
from evaluators.reading import Reading
from leaderflow.core.errors import SpecError
from leaderflow.core.registry import bind, build, resolve
from leaderflow.core.types import Cell, Item, Json, Judging, Metric, Question, Row

if TYPE_CHECKING:
    import pyarrow as pa

SHARES_OF_ONE = frozenset({"csimpleqa_postprocess"})
"""Summaries whose shares are of 1; those of the others are percentages."""
UNBOUNDED = frozenset({"numerical_llmjudge_postprocess"})
FRACTIONS = frozenset({"f1"})
"""Metrics that are in 0–1 beside percentages."""


class GenericLLMEvaluator(Judge):
    """The replies of a judge, summed up by `dict_postprocessor` (OpenCompass ``GenericLLMEvaluator``).

    The summary sees all replies at once, so these and the references are held in memory until all is scored.

    Args:
        prompt_template: the judge's template.
        dataset_cfg: its reader_cfg is not needed: the rows are those that were evaluated.
        judge_cfg: the judge's model block, whose own pred_postprocessor cleans the replies; empty: the run's judges, or the model
            that the variables OC_JUDGE_MODEL, OC_JUDGE_API_KEY, OC_JUDGE_API_BASE name.
        dict_postprocessor: replies → metrics; by default ``generic_llmjudge_postprocess``.
        keep_predictions: changes no score.
    """

    summary = "generic_llmjudge_postprocess"

    def __init__(
        self,
        prompt_template: dict[str, Json],
        dataset_cfg: dict[str, Json] | None = None,
        judge_cfg: JudgeNames = None,
        dict_postprocessor: dict[str, Json] | None = None,
        keep_predictions: bool = False,
    ) -> None:
        self.needs, self.uses_references = frozenset(), False
        config = dict(dict_postprocessor or {"type": self.summary})
        self.summary_name = _last(config.pop("type"))
        self.summarise: Callable[..., Mapping[str, float]] = resolve("postprocessor", self.summary_name, key="dict_postprocessor")
        self.arguments = config
        self.judging = Judging(
            template={**prompt_template, "type": _last(prompt_template["type"])},
            judges=named(judge_cfg or None),
            blank="reference",
            compat="opencompass",
        )

    def row(self, item: Item, text: str, **more: Json) -> Row:
        """Return the sample's columns and OpenCompass' own."""
        return {**item.row, "prediction": text, "obj_gold": item.reference, "reference": item.reference, **more}

    def rate_item(self, item: Item, verdicts: Verdicts) -> Rating:
        """Return what the summary says of this reply alone."""
        reply = next((shown_text(v.value) for v in verdicts.get("", ()) if v.value is not None), "")
        entry = (reply, item.reference)
        alone = self._summed([entry])
        leading = next(iter(alone))
        scale = self.unit(leading)[0]
        if scale is None:
            return Rating({}, None, {"reply": reply} | dict(alone), entry)
        share = min(1.0, max(0.0, alone[leading] / scale))
        return Rating({leading: share}, share == 1.0 if share in (0.0, 1.0) else None, {"reply": reply}, entry)

    @property
    def averages(self) -> bool:
        """The summary need not be a mean."""
        return False

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the summary of all replies."""
        return dict(self._summed(Ratings.of(ratings).data))

    def unit(self, name: str) -> tuple[float | None, bool]:
        """Percentages, shares of 1, counts and errors, as the summaries have them."""
        if name.endswith("_count") or name == "total":
            return None, True
        if self.summary_name in UNBOUNDED:
            return None, False
        return (1.0 if self.summary_name in SHARES_OF_ONE or name in FRACTIONS else 100.0), True

    def _summed(self, replies: Sequence[tuple[str, Json]]) -> Mapping[str, float]:
        entries = {str(i): {"prediction": reply, "gold": gold} for i, (reply, gold) in enumerate(replies)}
        return self.summarise(entries, **self.arguments)


class SingleScores(GenericLLMEvaluator):
    """A judge of open answers, one score a row (OpenCompass ``LMEvaluator``, mode singlescore).

    Without a `dict_postprocessor` the replies are read by our own strict readers: a rating of 1 to 10, or a label (``[正确]`` and
    ``[错误]``, ``CORRECT`` and ``INCORRECT``); metric ``score``, 0–100.
    """

    def __init__(
        self,
        prompt_template: dict[str, Json],
        dataset_cfg: dict[str, Json] | None = None,
        judge_cfg: JudgeNames = None,
        dict_postprocessor: dict[str, Json] | None = None,
    ) -> None:
        super().__init__(prompt_template, dataset_cfg, judge_cfg, dict_postprocessor)
        if dict_postprocessor is None:
            self.summary_name, self.summarise = "score", _strict_score


def _strict_score(output: Mapping[str, Mapping[str, Json]]) -> dict[str, float]:
    points = [_points(str(entry["prediction"])) for entry in output.values()]
    return {"score": 100 * sum(points) / len(points)}


def _points(reply: str) -> float:
    label = verdict(reply, ["正确", "错误", "CORRECT", "INCORRECT"]).value
    if label is not None:
        return float(label in ("正确", "CORRECT"))
    return float(rating_verdict(reply).value or 0) / 10


class CascadeEvaluator(Judge):
    """A rule evaluator and a judge (OpenCompass ``CascadeEvaluator``).

    Recorded: `parallel`, the default, asks the judge about all and takes rule or judge; without it only about what the rule does
    not confirm. The judge confirms where its reply is ``A`` or begins with ``CORRECT``.
    """

    metric = "accuracy"

    def __init__(
        self,
        llm_evaluator: dict[str, Json],
        rule_evaluator: dict[str, Json],
        sample_score_fn: Json = None,
        parallel: bool = True,
    ) -> None:
        if sample_score_fn is not None:
            raise SpecError("write the function as an evaluator (package.module:Name) under rule_evaluator", key="sample_score_fn")
        config = {**llm_evaluator, "type": _last(llm_evaluator["type"])}
        config.pop("pred_postprocessor", None)
        rules = {**rule_evaluator, "type": _last(rule_evaluator["type"])}
        cleaning = rules.pop("pred_postprocessor", None)
        self.clean = bind("postprocessor", {**cleaning, "type": _last(cleaning["type"])}) if cleaning else None
        self.judge: GenericLLMEvaluator = build("evaluator", config, key="llm_evaluator")
        self.rules: Evaluator = build("evaluator", rules, key="rule_evaluator")
        self.judging, self.parallel, self.needs = self.judge.judging, parallel, self.rules.needs
        self.uses_references, self.needs_sandbox = self.rules.uses_references, self.rules.needs_sandbox

    def check(self, rows: Iterable[tuple[Json, Row]]) -> None:
        """See that the rule can score all rows."""
        self.rules.check(rows)

    def questions(self, cell: Cell) -> Iterator[Question]:
        """Yield the judge's questions: all, or those that the rule does not settle. The judge sees the whole answer."""
        for items, confirmed in self._confirmed(cell):
            for item, right in zip(items, confirmed, strict=True):
                if item.output and not item.refused and (self.parallel or not right):
                    yield Question(item.sample_id, item.repeat, "", self.judge.row(item, item.output))

    def score(self, cell: Cell, answers: pa.Table | None = None) -> tuple[Iterator[pa.RecordBatch], list[Metric]]:
        """Return right where the rule or the judge says so."""
        rated = Rated(self)
        for items, confirmed in self._confirmed(cell):
            verdicts, ratings = verdicts_of(answers, items), []
            for item, rule in zip(items, confirmed, strict=True):
                replies = verdicts.get((item.sample_id, item.repeat), {}).get("", [])
                judge = majority([_confirms(str(reply.value)) for reply in replies if reply.value is not None]) is True
                right, judged = not item.refused and (rule or judge), bool(replies)
                detail = {"rule": rule, "judge": judge, "judged": judged}
                ratings.append(Rating({self.metric: float(right)}, right, detail, (rule, judged)))
            rated.add(items, ratings)
        return rated.batches(), metrics_of(self, rated, cell.predictions)

    @property
    def averages(self) -> bool:
        """The counts are no means."""
        return False

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the accuracy, that of the rule alone, and who confirmed how many."""
        columns = Ratings.of(ratings)
        rules, asked = zip(*columns.data, strict=True)
        rule, judged = sum(rules), sum(asked)
        judge = sum(right and not by_rule for right, by_rule in zip(columns.right, rules, strict=True))
        counts = dict(zip(COUNTS, (float(rule), float(judge), float(judged)), strict=True))
        return {**super().combine(columns), "rule_accuracy": 100 * rule / len(ratings), **counts}

    def unit(self, name: str) -> tuple[float | None, bool]:
        """Counts have no upper end."""
        return (None, True) if name in COUNTS else super().unit(name)

    def _confirmed(self, cell: Cell) -> Iterator[tuple[Sequence[Item], list[bool]]]:
        """Yield the rows, and which of them the rule finds right; what it cannot read the judge decides."""
        reading = Reading(self.rules)
        reading.survey(cell)
        for items in cell.blocks(self.rules.block):
            given = ["" if item.prediction is None else item.prediction for item in items]
            ratings = reading.rate(items, [self.clean(text) for text in given] if self.clean else given)
            yield items, [r.correct is True or (r.correct is None and r.score == 1.0) for r in ratings]


def _confirms(reply: str) -> bool:
    text = reply.strip()
    return text == "A" or text.startswith("CORRECT")


def _last(name: str) -> str:
    """Return the registered name behind a dotted one."""
    return name.rsplit(".", 1)[-1]
