"""The recorded functions of OpenCompass by their dotted names, as its configurations name them, to the names registered here."""

from __future__ import annotations

from collections.abc import Mapping

_SAME = """
datasets.OlympiadBench.olympiadbench_postprocess_v2
datasets.OpenSWI.extract_list
datasets.PMMEval.flores.pmmeval_flores_postprocess
datasets.PMMEval.mhellaswag.pmmeval_mhellaswag_postprocess
datasets.PMMEval.mifeval.pmmeval_mifeval_postprocess
datasets.PMMEval.mlogiqa.pmmeval_mlogiqa_postprocess
datasets.PMMEval.mmmlu.pmmeval_mmmlu_postprocess
datasets.PMMEval.xnli.pmmeval_xnli_postprocess
datasets.SciReasoner.GUE.GUE_postprocessor
datasets.SciReasoner.LLM4Chem.evaluator.LLM4Chem_postprocess
datasets.SciReasoner.LLM4Chem.retrosynthesis_evaluator.Retrosynthesis_postprocess
datasets.SciReasoner.Mol_Instructions.biotext.Mol_Instructions_postprocess_BioText
datasets.SciReasoner.PEER.PEER_postprocess
datasets.SciReasoner.PEER.PEER_postprocess_default
datasets.SciReasoner.PEER.PEER_postprocess_float_compare
datasets.SciReasoner.uncond_RNA.RNA_postprocessor
datasets.SciReasoner.uncond_material.material_postprocessor
datasets.SciReasoner.unconditional_protein_generation.UPG.UPG_postprocess
datasets.SeedBench.my_multiple_select_postprocess
datasets.TheoremQA.legacy.TheoremQA_postprocess_v2
datasets.TheoremQA.main.TheoremQA_postprocess_v3
datasets.TheoremQA.main.TheoremQA_postprocess_v4
datasets.TheoremQA.utils.extract_theoremqa_answer
datasets.aa_lcr.aa_lcr_llmjudge_postprocess
datasets.agieval.post_process.extract_answer_in_bracket
datasets.agieval.post_process.extract_last_line
datasets.agieval.post_process.find_first_capital_letter
datasets.agieval.post_process.parse_qa_multiple_answer
datasets.arc_prize_public_evaluation.extract_solution
datasets.arxivrollbench.arxivrollbench_choice_postprocess
datasets.arxivrollbench.arxivrollbench_selection_postprocess
datasets.biodata.extract_boxed_text
datasets.chinese_simpleqa.chinese_simpleqa_preprocess
datasets.chinese_simpleqa.csimpleqa_postprocess
datasets.clbench.clbench_pred_postprocess
datasets.codecompass.utils.extract_cpp_code
datasets.compassbench_obj.compassbench_objective_v1_3_postprocess
datasets.crowspairs.crowspairs_postprocess
datasets.cruxeval.cruxeval_o_postprocess
datasets.game24.game24_postprocess
datasets.generic._generic_llmjudge_postprocess
datasets.generic.generic_llmjudge_academic_postprocess
datasets.generic.generic_llmjudge_postprocess
datasets.gpqa.GPQA_Simple_Eval_postprocess
datasets.humaneval.humaneval_internal_v1_postprocess
datasets.humaneval.humaneval_internal_v2_postprocess
datasets.humaneval.humaneval_postprocess_v2
datasets.humaneval.humaneval_postprocess_v3
datasets.infinitebench.utils.InfiniteBench_first_number_postprocess
datasets.inverse_ifeval.extract_inverse_ifeval_score
datasets.livecodebench.extract_utils.extract_code_execution
datasets.livecodebench.extract_utils.extract_code_generation_v2
datasets.livecodebench.extract_utils.extract_test_output_code
datasets.livecodebench_pro.livecodebench_pro_evaluator.extract_longest_cpp_code
datasets.livemathbench.utils.extract_judge_label
datasets.livereasonbench.livereasonbench._livereasonbench_postprocess
datasets.livereasonbench.livereasonbench.livereasonbench_postprocess
datasets.longbench.longbench_lsht.lsht_postprocess
datasets.longbench.longbench_samsum.samsum_postprocess
datasets.longbench.longbench_trec.trec_postprocess
datasets.longbench.longbench_trivia_qa.triviaqa_postprocess
datasets.matbench.post_process._numerical_postprocess
datasets.matbench.post_process.numerical_llmjudge_postprocess
datasets.math.math_judement_preprocess
datasets.math.math_postprocess
datasets.math.math_postprocess_v2
datasets.math.normalize_final_answer
datasets.math_intern.math_intern_postprocess
datasets.mathbench.mathbench_postprocess
datasets.mgsm.mgsm_postprocess
datasets.needlebench.origin.needlebench_dataset_postprocess
datasets.needlebench.origin.needlebench_postprocess
datasets.needlebench_v2.atc_elder_only.needlebench_atc_postprocess_v2
datasets.phybench.box_extract.extract_boxed_latex
datasets.s2_tomg_bench.extract_smiles
datasets.simpleqa._single_simpleqa_postprocess
datasets.simpleqa.simpleqa_postprocess
datasets.smolinstruct.extract_chemical_data
datasets.subjective.alignbench.extract_rating
datasets.subjective.elbench._extract_choices
datasets.tabmwp.extract_prediction
datasets.zebralogic._extract_mc_answer
utils.text_postprocessors.first_number_postprocess
utils.text_postprocessors.first_option_postprocess
utils.text_postprocessors.general_eval_wrapper_postprocess
utils.text_postprocessors.last_option_postprocess
utils.text_postprocessors.match_answer_pattern
"""
_RENAMED = {
    "datasets.ProcessBench.extract_answer": "ProcessBench.extract_answer",
    "datasets.SciReasoner.composition_material.material_postprocessor": "composition_material.material_postprocessor",
    "datasets.TheoremQA.legacy.TheoremQA_postprocess": "TheoremQA",
    "datasets.bbeh.bbeh_freeform_postprocess": "bbeh_freeform",
    "datasets.bbeh.bbeh_mcq_postprocess": "bbeh_mcq",
    "datasets.bbh.bbh_freeform_postprocess": "bbh-freeform",
    "datasets.bbh.bbh_mcq_postprocess": "bbh-mcq",
    "datasets.bigcodebench.extractor.extract_code_generation": "bigcodebench.extract_code_generation",
    "datasets.biodata.extract_number": "biodata.extract_number",
    "datasets.charm.charm_reason_postprocess": "charm-reason",
    "datasets.cmrc.cmrc_postprocess": "cmrc",
    "datasets.drcd.drcd_postprocess": "drcd",
    "datasets.ds1000.ds1000_completion_postprocess": "ds1000_completion",
    "datasets.ds1000.ds1000_matplotlib_postprocess": "ds1000_matplotlib",
    "datasets.ds1000.ds1000_postprocess": "ds1000",
    "datasets.flores.flores_postprocess": "flores",
    "datasets.flores.flores_postprocess_chinese": "flores-chinese",
    "datasets.gaokao_math.extract_boxed_answer": "gaokao_math.extract_boxed_answer",
    "datasets.gsm8k.gsm8k_dataset_postprocess": "gsm8k_dataset",
    "datasets.gsm8k.gsm8k_postprocess": "gsm8k",
    "datasets.lcsts.lcsts_postprocess": "lcsts",
    "datasets.leval.leval_gsm100.gsm100_dataset_postprocess": "gsm100_dataset",
    "datasets.leval.leval_gsm100.gsm100_postprocess": "gsm100",
    "datasets.livecodebench.extract_utils.extract_code_generation": "livecodebench.extract_code_generation",
    "datasets.math.extract_answer": "math.extract_answer",
    "datasets.math.extract_boxed_answer": "math.extract_boxed_answer",
    "datasets.mbpp.MBPPEvaluator._process_answer": "mbpp.MBPPEvaluator._process_answer",
    "datasets.mbpp.MBPPEvaluator2._process_answer": "mbpp.MBPPEvaluator2._process_answer",
    "datasets.record.ReCoRD_postprocess": "ReCoRD",
    "datasets.scibench.scibench_postprocess": "scibench",
    "datasets.smolinstruct.extract_number": "smolinstruct.extract_number",
    "datasets.smolinstruct.smolinstruct_acc_0shot_postprocess": "smolinstruct-acc-0shot",
    "datasets.smolinstruct.smolinstruct_acc_postprocess": "smolinstruct-acc",
    "datasets.strategyqa.strategyqa_dataset_postprocess": "strategyqa_dataset",
    "datasets.strategyqa.strategyqa_pred_postprocess": "strategyqa",
    "datasets.teval.teval_postprocess": "teval",
    "datasets.xsum.Xsum_postprocess": "Xsum",
    "utils.text_postprocessors.extract_non_reasoning_content": "extract-non-reasoning-content",
    "utils.text_postprocessors.first_capital_postprocess": "first-capital",
    "utils.text_postprocessors.first_capital_postprocess_multi": "first-capital-multi",
    "utils.text_postprocessors.general_cn_postprocess": "general_cn",
    "utils.text_postprocessors.general_postprocess": "general",
    "utils.text_postprocessors.last_capital_postprocess": "last-capital",
    "utils.text_postprocessors.multiple_select_postprocess": "multiple-select",
    "utils.text_postprocessors.think_pred_postprocess": "think_pred",
    "utils.text_postprocessors.xml_tag_postprocessor": "specific-xml-tag",
}

RECORDED: Mapping[str, str] = {
    **{f"opencompass.{path}": path.rpartition(".")[2] for path in _SAME.split()},
    **{f"opencompass.{path}": name for path, name in _RENAMED.items()},
}
"""Dotted name → registered name; functions that have no short name keep the last part of the dotted one."""
