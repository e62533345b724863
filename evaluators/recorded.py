"""The evaluators that carry names of OpenCompass: dotted class → our registered name."""

from __future__ import annotations

from collections.abc import Mapping

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
    "ruler.ruler_cwe": "RulerCweEvaluator",
    "ruler.ruler_fwe": "RulerFweEvaluator",
    "ruler.ruler_niah": "RulerNiahEvaluator",
    "ruler.ruler_qa": "RulerQaEvaluator",
    "ruler.ruler_vt": "RulerVtEvaluator",
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
