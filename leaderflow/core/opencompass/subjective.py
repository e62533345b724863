"""How open answers are judged in OpenCompass: keys of a dataset block or of the evaluation's partitioner become the evaluator's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leaderflow.core.opencompass.models import abbr_of, plain_abbr
from leaderflow.core.opencompass.translator import Translator, Where
from leaderflow.core.pyconfig import Block, Config
from leaderflow.core.yaml import shown

PAIRS = frozenset({"m2n", "allpair"})
_MODES = PAIRS | {"singlescore", "fixed"}
_KEYS = ("mode", "infer_order", "base_models")
_GIVEN = "answers in given_pred are not read: bring them in with `leaderflow import-predictions`, or let base_models be asked"
_SUMMED = "pairs are summed up as win_rate; {} is not used"


def judged(translator: Translator, block: Mapping[str, Any], around: Where) -> Mapping[str, Any]:
    """Return a dataset block whose evaluator says how its answers are judged; what has no counterpart goes to the report."""
    place = translator.where(block, around)
    rest = {key: value for key, value in block.items() if key not in ("infer_order", "base_models", "given_pred", "judge_cfg")}
    if block.get("mode") in _MODES:
        rest.pop("mode")
    if block.get("given_pred"):
        translator.report.note(_GIVEN, place)
    eval_cfg = block.get("eval_cfg")
    evaluator = eval_cfg.get("evaluator") if isinstance(eval_cfg, Mapping) else None
    if isinstance(eval_cfg, Mapping) and isinstance(evaluator, Mapping):
        own = _evaluator(translator, evaluator, block, place)
        rest["eval_cfg"] = _like(eval_cfg, {**eval_cfg, "evaluator": own})
    return _like(block, rest)


def judge_models(config: Config) -> list[Mapping[str, Any]]:
    """Return the judges that the partitioner names."""
    found = _partitioner(config).get("judge_models") or []
    return [block for block in found if isinstance(block, Mapping)]


def check_rest(translator: Translator, models: set[str]) -> None:
    """Report what of the evaluation's judging has no counterpart, or is done otherwise."""
    config, part = translator.config, _partitioner(translator.config)
    for name in ("meta_judge_model", "meta_judge_models"):
        if config.values.get(name) or part.get(name):
            place: Where = (shown(config.path), config.lines.get(name) or config.lines.get("eval"))
            translator.report.miss(name, "judge", place, "several judge_models decide together; no judge judges them")
    place = translator.where(part, (shown(config.path), config.lines.get("eval")))
    compared = {_abbr(model) for model in part.get("compare_models") or []}
    for extra in sorted(compared - models):
        translator.report.miss(extra, "compare_models entry", place, "name it under models")
    if compared and models - compared - {_abbr(model) for model in part.get("base_models") or []}:
        translator.report.note("every model of the run is compared, whether compare_models names it or not", place)
    block = config.values.get("eval")
    if part.get("given_pred") or (isinstance(block, Mapping) and block.get("given_pred")):
        translator.report.note(_GIVEN, place)


def _evaluator(translator: Translator, evaluator: Mapping[str, Any], block: Mapping[str, Any], place: Where) -> Mapping[str, Any]:
    name = str(getattr(evaluator.get("type"), "__name__", evaluator.get("type"))).rpartition(".")[2]
    own = dict(evaluator)
    if block.get("judge_cfg") and not own.get("judge_cfg"):
        own["judge_cfg"] = block["judge_cfg"]
    part = _partitioner(translator.config) if name == "LMEvaluator" else {}
    asked = {key: value for key in _KEYS if (value := block.get(key) or part.get(key))}
    if asked.get("mode") == "fixed" or (asked.get("mode") in PAIRS and name != "LMEvaluator"):
        translator.report.miss(
            f"mode={asked['mode']!r} of {name}", "argument", place, "there are singlescore, m2n and allpair of LMEvaluator"
        )
    elif asked.get("mode") in PAIRS:
        own |= {key: value for key, value in asked.items() if key != "base_models"}
        if asked["mode"] == "m2n":
            own["base_models"] = [_abbr(model) for model in asked.get("base_models", ())]
        if (summary := own.pop("dict_postprocessor", None)) is not None:
            said = summary.get("type") if isinstance(summary, Mapping) else summary
            translator.report.note(_SUMMED.format(getattr(said, "__name__", said)), place)
    return _like(evaluator, own)


def _partitioner(config: Config) -> Mapping[str, Any]:
    block = config.values.get("eval")
    part = block.get("partitioner") if isinstance(block, Mapping) else None
    return part if isinstance(part, Mapping) else {}


def _abbr(model: Any) -> str:
    return abbr_of(model) if isinstance(model, Mapping) else plain_abbr(str(model))


def _like(written: Mapping[str, Any], values: Mapping[str, Any]) -> Block:
    """Return values as a block that stands where another one was written."""
    return Block(values).written_at(getattr(written, "file", None), getattr(written, "line", None))
