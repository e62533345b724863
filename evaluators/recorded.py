"""The evaluators that carry names of OpenCompass: dotted class → our registered name, and its way of scoring repeats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from evaluators.base import Evaluator, Rating
from leaderflow.core.errors import DataError
from leaderflow.core.statistics import g_pass_at_k, mg_pass_at_k
from leaderflow.core.types import Row

THRESHOLDS = (0.0, 0.25, 0.5, 0.75, 1.0)

_OPENICL = {
    "icl_hf_evaluator": "AccEvaluator AccwithDetailsEvaluator AccContaminationEvaluator RougeEvaluator BleuEvaluator MccEvaluator "
    "SquadEvaluator EDAccEvaluator",
    "icl_em_evaluator": "EMEvaluator",
    "icl_jieba_rouge_evaluator": "JiebaRougeEvaluator",
    "icl_aucroc_evaluator": "AUCROCEvaluator",
    "icl_circular_evaluator": "CircularEvaluator",
    "icl_misc_evaluator": "AveragePPLEvaluator AverageMinKEvaluator AverageInferencePPLEvaluator",
    "icl_bpc_evaluator": "BPCEvaluator",
}

_DATASETS = {
    "IFBench.ifbench": "IFBenchEvaluator",
    "IFEval.ifeval": "IFEvaluator",
    "MultiIF.multiif": "MultiIFEvaluator",
    "GaokaoBench": "GaokaoBenchEvaluator",
    "OlympiadBench": "OlympiadBenchEvaluator",
    "OpenFinData": "OpenFinDataKWEvaluator",
    "PMMEval.mgsm": "PMMEvalMGSMEvaluator",
    "PMMEval.mhellaswag": "PMMEvalMHellaswagEvaluator",
    "PMMEval.mlogiqa": "PMMEvalMLogiQAEvaluator",
    "PMMEval.mmmlu": "PMMEvalMMMLUEvaluator",
    "PMMEval.xnli": "PMMEvalXNLIEvaluator",
    "ProcessBench": "ProcessBenchEvaluator",
    "QuALITY": "QuALITYEvaluator",
    "SeedBench": "AccScoreStr_Evaluator AverageRougeScoreEvaluator F1ScoreEvaluator",
    "TheoremQA.main": "TheoremQAEvaluatorV3",
    "advglue": "AccDropEvaluator",
    "agieval.agieval": "AGIEvalEvaluator AGIEvalEvaluator_mcq",
    "arc_prize_public_evaluation": "ARCPrizeEvaluator",
    "babilong.babilong": "BabiLongEvaluator",
    "bbeh": "BBEHEvaluator BBEHEvaluator_mcq",
    "bbh": "BBHEvaluator BBHEvaluator_mcq",
    "biodata": "BiodataAccEvaluator BiodataClsEvaluator BiodataMCCEvaluator BiodataRMSEEvaluator BiodataSpearmanEvaluator "
    "BiodataStringEvaluator",
    "charm": "CharmReasonEvaluator",
    "crowspairs": "CrowspairsEvaluator",
    "cruxeval": "CRUXEvalOEvaluator",
    "custom": "OptionSimAccEvaluator",
    "drop_simple_eval": "DropOpenAIEvaluator",
    "game24": "Game24Evaluator",
    "gpqa": "GPQAEvaluator",
    "gsm8k": "Gsm8kEvaluator",
    "humaneval": "HumanEvalEvaluator",
    "infinitebench.infinitebench_endia": "InfiniteBenchendiaEvaluator",
    "infinitebench.infinitebench_mathcalc": "InfiniteBenchmathcalcEvaluator",
    "infinitebench.infinitebench_retrievekv": "InfiniteBenchretrievekvEvaluator",
    "kaoshi": "KaoshiEvaluator",
    "korbench.korbench": "korbenchEvaluator",
    "lambada": "LambadaEvaluator",
    "lawbench.lawbench": "LawBenchEvaluator",
    "leval.evaluators": "LEvalEMEvaluator",
    "longbench.evaluators": "LongBenchClassificationEvaluator LongBenchCodeSimEvaluator LongBenchCountEvaluator "
    "LongBenchF1Evaluator LongBenchRetrievalEvaluator LongBenchRougeEvaluator",
    "longbenchv2": "LongBenchv2Evaluator",
    "lveval.evaluators": "LVEvalF1Evaluator LVEvalOPTF1Evaluator LVEvalOPTRougeEvaluator",
    "math": "MATHEvaluator",
    "math401": "Math401Evaluator",
    "math_intern": "MATHInternEvaluator",
    "mathbench": "MathBenchCircularEvaluator",
    "mbpp": "MBPPEvaluator MBPPEvaluator2 MBPPPassKEvaluator",
    "mgsm": "MGSM_Evaluator",
    "mmlu_pro": "MMLUProBaseEvaluator",
    "mrcr": "MRCREvaluator",
    "musr.musr": "MusrEvaluator",
    "natural_question": "NQEvaluator",
    "natural_question_cn": "NQEvaluatorCN",
    "squad20": "SQuAD20Evaluator",
    "tabmwp": "TabMWPEvaluator",
    "triviaqa": "TriviaQAEvaluator",
    "tydiqa": "TydiQAEvaluator",
    "zebralogic": "ZebraLogicGridEvaluator ZebraLogicMCEvaluator",
}


def _dotted(root: str, modules: Mapping[str, str]) -> dict[str, str]:
    return {f"opencompass.{root}.{module}.{name}": name for module, names in modules.items() for name in names.split()}


RECORDED: dict[str, str] = {
    **_dotted("openicl.icl_evaluator", _OPENICL),
    **_dotted("datasets", _DATASETS),
    "opencompass.datasets.circular.CircularEvaluator": "DatasetCircularEvaluator",
    "opencompass.evaluator.math_evaluator.MATHVerifyEvaluator": "MATHVerifyEvaluator",
}
"""Dotted class of OpenCompass → registered name, the same short name unless two classes share it."""


def evaluate_repeats(
    evaluator: Evaluator,
    predictions: Sequence[Any],
    references: Sequence[Any],
    rows: Sequence[Row] | None,
    n: int,
    k: int | list[int],
) -> dict[str, float]:
    """Return what OpenCompass' ``evaluate`` reports for `n` runs laid one after the other.

    Every metric is the mean over the runs, called ``<metric> (n runs average)`` for n > 1; G-Pass@k and mG-Pass@k are added where
    the verdicts are binary and the largest k exceeds 1.

    Raises:
        DataError: the predictions are no n runs of one length, or k exceeds n.
    """
    ks = [k] if isinstance(k, int) else list(k)
    if max(ks) > n or len(predictions) % n:
        raise DataError(f"{len(predictions)} predictions are no {n} runs, or k = {max(ks)} exceeds the number of runs")
    ratings, size = evaluator.rate(predictions, references, rows), len(predictions) // n
    runs = [evaluator.combine(ratings[i * size : (i + 1) * size]) for i in range(n)]
    names = {m: m if n == 1 else f"{m} ({n} runs average)" for m in runs[0]}
    found = {shown: fmean(run[m] for run in runs) for m, shown in names.items()}
    if n > 1 and max(ks) > 1 and all(r.correct is not None for r in ratings):
        found |= _tails([ratings[i::size] for i in range(size)], n, ks)
    return found


def _tails(samples: Sequence[Sequence[Rating]], n: int, ks: Sequence[int]) -> dict[str, float]:
    counts = [sum(bool(rating.correct) for rating in sample) for sample in samples]
    found = {f"G-Pass@{k}_{t}": 100 * fmean(g_pass_at_k(n, c, k, t) for c in counts) for k in ks for t in THRESHOLDS}
    return found | {f"mG-Pass@{k}": 100 * fmean(mg_pass_at_k(n, c, k) for c in counts) for k in ks}
