"""Blocks of OpenCompass become ours; what has no counterpart is told by name, file and line."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from leaderflow.core.errors import SpecError
from leaderflow.core.load import build_evaluation, load_dataset, load_evaluation
from leaderflow.core.opencompass import NoCounterpart, Translated, translate
from leaderflow.core.opencompass.names import registered
from tests.core.opencompass.conftest import HEAD, Write

DATASET = "dict(type=JsonlDataset, abbr='q', path='q.jsonl', reader_cfg=reader_cfg, infer_cfg=infer_cfg, eval_cfg=eval_cfg{})"
MODEL = "dict(type=OpenAISDK, abbr='m', path='served', key='ENV', openai_api_base='https://x.test/v1'{})"
WHOLE = HEAD + f"models = [{MODEL.format('')}]\ndatasets = [{DATASET.format('')}]\n"


def one_model(write: Write, block: str) -> dict[str, Any]:
    found = translate(write("m.py", HEAD + f"models = [{block}]\n"))
    assert not found.report.missing
    value: dict[str, Any] = found.models[0].value
    return value


def missing(found: Translated) -> list[tuple[str, str, int | None]]:
    return [(m.kind, m.name, m.line) for m in found.report.missing]


def test_a_whole_evaluation(write: Write, tmp_path: Path) -> None:
    write("q.jsonl", '{"question": "a", "answer": "b"}\n')
    spec = load_evaluation(write("eval.py", WHOLE))
    assert spec.models[0].type == "OpenAISDK"
    dataset = spec.datasets[0]
    assert (dataset.type, dataset.compat, dataset.path) == ("JsonlDataset", "opencompass", str(tmp_path / "q.jsonl"))
    assert dataset.infer_cfg.prompt_template == {
        "type": "RawPromptTemplate",
        "messages": [{"role": "user", "content": "{question}"}],
    }
    assert dataset.source == str(tmp_path / "eval.py")


def test_datasets_and_models_of_files_on_the_command_line(write: Write) -> None:
    second = MODEL.replace("abbr='m'", "abbr='n'").format("")
    models = write("m.py", HEAD + f"models = [{MODEL.format('')}, {second}]\n")
    datasets = write("d.py", HEAD + f"q_datasets = [{DATASET.format('')}]\nz_datasets = [dict(q_datasets[0], abbr='z')]\n")
    spec = build_evaluation([str(models)], [str(datasets)])
    assert [m.abbr for m in spec.models] == ["m", "n"]
    assert [d.abbr for d in spec.datasets] == ["q", "z"]
    assert load_dataset(datasets)[1].abbr == "z"


def test_templates_retrievers_evaluators_and_postprocessors(write: Write) -> None:
    text = HEAD + (
        "infer_cfg = dict(\n"
        "    ice_template=dict(type=PromptTemplate, template='Q: {question} A: {answer}'),\n"
        "    prompt_template=dict(type='opencompass.openicl.icl_prompt_template.PromptTemplate',\n"
        "        template='</E>{question}', ice_token='</E>'),\n"
        "    retriever=dict(type=FixKRetriever, fix_id_list=(0, 1)),\n"
        "    inferencer=dict(type=GenInferencer, save_every=1))\n"
        "eval_cfg = dict(evaluator=dict(type=Gsm8kEvaluator), pred_postprocessor=dict(type=gsm8k_postprocess), pred_role='BOT',\n"
        "    dataset_postprocessor=dict(type='opencompass.datasets.gsm8k_dataset_postprocess'), num_gpus=1)\n"
        f"datasets = [{DATASET.format(', n=2, k=[1, 2]')}]\n"
    )
    dataset = load_dataset(write("d.py", text))[0]
    assert dataset.infer_cfg.retriever == {"type": "FixKRetriever", "fix_id_list": [0, 1]}
    assert dataset.infer_cfg.inferencer == {"type": "GenInferencer"}
    assert dataset.eval_cfg.evaluator == {"type": "Gsm8kEvaluator"}
    assert dataset.eval_cfg.pred_postprocessor == {"type": "gsm8k"}
    assert dataset.eval_cfg.dataset_postprocessor == {"type": "gsm8k_dataset"}
    assert (dataset.n, dataset.k) == (2, [1, 2])


@pytest.mark.parametrize(
    ("kind", "module", "name", "wanted"),
    [
        ("evaluator", "opencompass.openicl.icl_evaluator", "CircularEvaluator", "CircularEvaluator"),
        ("evaluator", "opencompass.datasets.circular", "CircularEvaluator", "DatasetCircularEvaluator"),
        ("postprocessor", "opencompass.datasets.biodata", "extract_number", "biodata.extract_number"),
        ("postprocessor", "opencompass.datasets.smolinstruct", "extract_number", "smolinstruct.extract_number"),
        ("postprocessor", "opencompass.utils.text_postprocessors", "first_capital_postprocess", "first-capital"),
        ("retriever", "opencompass.openicl.icl_retriever.icl_topk_retriever", "TopkRetriever", "TopkRetriever"),
        ("model", "opencompass.models", "HuggingFaceCausalLM", "HuggingFaceBaseModel"),
        ("evaluator", "opencompass.datasets", "NobodysEvaluator", None),
    ],
)
def test_names(kind: Any, module: str, name: str, wanted: str | None) -> None:
    assert registered(kind, module, name) == wanted


def test_hub_datasets(write: Write) -> None:
    block = (
        DATASET.replace("JsonlDataset", "HFDataset").replace("'q.jsonl'", "'org/name', name='sub', split='validation'").format("")
    )
    dataset = load_dataset(write("d.py", HEAD + f"h_datasets = [{block}]\n"))[0]
    assert (dataset.type, dataset.path, dataset.name) == ("HFDataset", "org/name", "sub")
    assert (dataset.reader_cfg.train_split, dataset.reader_cfg.test_split) == ("validation", "validation")
    files = block.replace("path='org/name', name='sub', split='validation'", "path='json', data_files='./x.jsonl', split='train'")
    dataset = load_dataset(write("f.py", HEAD + f"h_datasets = [{files}]\n"))[0]
    assert (dataset.type, dataset.path, dataset.reader_cfg.test_split) == ("JsonlDataset", "./x.jsonl", None)


def test_api_models(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", "a-secret-of-the-lab")
    block = MODEL.format(
        ", query_per_second=2, retry=3, temperature=0.5, max_completion_tokens=99, rpm_verbose=True, run_cfg=dict(num_gpus=0)"
    )
    found = one_model(write, block)
    assert found == {
        "type": "OpenAISDK",
        "abbr": "m",
        "path": "served",
        "key": "ENV",
        "openai_api_base": "https://x.test/v1",
        "rpm": 120,
        "retries": 3,
        "max_out_len": 99,
        "generation_kwargs": {"temperature": 0.5},
    }
    assert one_model(write, MODEL.replace("'ENV'", "__import__('os').environ['LAB_KEY']").format(""))["key_env"] == "LAB_KEY"
    assert "key" not in one_model(write, MODEL.replace("'ENV'", "'EMPTY'").format(""))
    url = MODEL.replace("/v1'", "/v1/chat/completions'").replace("OpenAISDK", "OpenAI")
    assert one_model(write, url.format(""))["openai_api_base"] == "https://x.test/v1"


def test_a_key_in_the_file_is_refused_and_never_shown(write: Write) -> None:
    path = write("m.py", HEAD + f"models = [{MODEL.replace('ENV', 'sk-0123456789abcdef').format('')}]\n")
    with pytest.raises(SpecError, match=r"m\.py:21: key: a key must not stand in a spec") as refused:
        translate(path)
    assert "0123456789" not in str(refused.value)


def test_local_weights(write: Write) -> None:
    block = (
        "dict(type=HuggingFacewithChatTemplate, abbr='a b/c', path='org/m', tokenizer_path='org/m', max_out_len=10, max_seq_len=99,"
        " batch_size=4, generation_kwargs=dict(do_sample=False, top_p=0.9), stop_words=['x', 'y'], run_cfg=dict(num_gpus=1),"
        " model_kwargs=dict(device_map='auto', torch_dtype='torch.float16', trust_remote_code=True), tokenizer_kwargs=dict(a=1))"
    )
    found = one_model(write, block)
    assert found["generation_kwargs"] == {"top_p": 0.9, "temperature": 0.0, "stop": ["x", "y"]}
    assert (found["abbr"], found["max_seq_len"], found["device_map"]) == ("a-b-c", 99, "auto")
    assert "tokenizer" not in found
    assert one_model(write, "dict(type=HuggingFaceCausalLM, path='org/m')")["abbr"] == "org_m"


def test_partitioners_and_runners_are_answered(write: Write, caplog: pytest.LogCaptureFixture) -> None:
    text = WHOLE + (
        "infer = dict(partitioner=dict(type=NumWorkerPartitioner, num_worker=8), runner=dict(type=LocalRunner,\n"
        "    task=dict(type=OpenICLInferTask)))\n"
        "eval = dict(partitioner=dict(type=NaivePartitioner, n=10),\n"
        "    runner=dict(type=LocalRunner, task=dict(type=OpenICLEvalTask)))\n"
        "work_dir = './outputs'\n"
    )
    with caplog.at_level(logging.WARNING, "leaderflow.opencompass"):
        load_evaluation(write("eval.py", text))
    said = caplog.text
    assert "shards are cut by leaderflow itself" in said
    assert "eval.py:23" in said
    assert "work_dir: results go to the store" in said


def test_summary_groups_of_what_is_evaluated(write: Write) -> None:
    write(
        "groups.py",
        "a_summary_groups = [dict(name='mine', subsets=['q', ['gone', 'accuracy']]), dict(name='other', subsets=['gone'])]\n",
    )
    text = (
        "from mmengine.config import read_base\nwith read_base():\n    from .groups import a_summary_groups\n"
        + WHOLE
        + (
            "summarizer = dict(dataset_abbrs=['mine', ['q', 'accuracy'], 'gone'],\n"
            "    summary_groups=sum([v for k, v in locals().items() if k.endswith('_summary_groups')], []))\n"
        )
    )
    summarizer = load_evaluation(write("eval.py", text)).summarizer
    assert [group.name for group in summarizer.summary_groups] == ["mine"]
    assert summarizer.dataset_abbrs == ["mine", ["q", "accuracy"]]


def test_everything_missing_is_told_at_once(write: Write) -> None:
    text = HEAD + (
        "from opencompass.openicl.icl_evaluator import SecretEvaluator\n"
        "from my_lab.data import LabDataset\n"
        "datasets = [\n"
        "    dict(type=LabDataset, abbr='l', reader_cfg=reader_cfg, infer_cfg=infer_cfg,\n"
        "         eval_cfg=dict(evaluator=dict(type=SecretEvaluator),\n"
        "                       pred_postprocessor=dict(type='frist-capital'))),\n"
        "    dict(type=Undefined, abbr='u', reader_cfg=nowhere, eval_cfg=eval_cfg, infer_cfg=dict(\n"
        "         infer_cfg, inferencer=dict(type=GenInferencer, max_outlen=3))),\n"
        "]\n"
    )
    found = translate(write("d.py", text))
    assert missing(found) == [
        ("evaluator", "SecretEvaluator", 25),
        ("postprocessor", "frist-capital", 26),
        ("dataset", "LabDataset", 24),
        ("name", "nowhere", 27),
        ("argument", "GenInferencer(max_outlen=…)", 28),
        ("dataset", "Undefined", 27),
    ]
    with pytest.raises(NoCounterpart) as refused:
        load_dataset(write("d.py", text))
    assert "\n" not in str(refused.value)
    assert "d.py:25: no counterpart for evaluator SecretEvaluator, postprocessor frist-capital" in str(refused.value)
    assert "and 2 more" in str(refused.value)
    assert ("argument", "GenInferencer(max_outlen=…)", "d.py:28", "did you mean 'max_out_len'?") in [
        (kind, name, Path(place).name, hint) for kind, name, place, hint in refused.value.table()
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("datasets = dict(type=JsonlDataset)\n", r"a\.py:21: datasets: must be a list of mappings, not a mapping"),
        ("datasets = [[dict(a=1)]]\n", r"a\.py:21: datasets\[0\]: must be a mapping, not a list; join lists with sum"),
        ("datasets = [HFDataset]\n", r"a\.py:21: .*not the class opencompass\.datasets\.HFDataset"),
        ("models = 3\n", r"a\.py:21: models: must be a list of mappings, not a number"),
        ("x = 1\n", r"a\.py: defines no datasets"),
        ("datasets = [dict(type=JsonlDataset, abbr='a', path='x.jsonl')]\n", r"a\.py:21: reader_cfg: missing key"),
        (f"datasets = [{DATASET.format(', nonsense=1')}]\n", r"a\.py:21: no counterpart for argument JsonlDataset\(nonsense=…\)"),
    ],
)
def test_wrong_shapes_name_file_and_line(write: Write, text: str, said: str) -> None:
    with pytest.raises(SpecError, match=said) as refused:
        load_dataset(write("a.py", HEAD + text))
    assert "\n" not in str(refused.value)


def test_code_of_the_file_itself_is_used(write: Write) -> None:
    from leaderflow.core import registry

    text = HEAD + (
        "def last(prediction, n=1):\n    return prediction.split()[-n]\n"
        "eval_cfg = dict(evaluator=dict(type=AccEvaluator), pred_postprocessor=dict(type=last, n=2),\n"
        "    dataset_postprocessor=dict(type=lambda t: t.lower()))\n"
        f"datasets = [{DATASET.format('')}]\n"
    )
    path = write("d.py", text)
    cfg = load_dataset(path)[0].eval_cfg
    assert cfg.pred_postprocessor is not None
    assert cfg.dataset_postprocessor is not None
    assert registry.bind("postprocessor", cfg.pred_postprocessor)("a b c") == "b"
    assert registry.bind("postprocessor", cfg.dataset_postprocessor)("ABC") == "abc"
    before = cfg.pred_postprocessor["type"]
    assert before.startswith("d.py:last@")
    path.write_text(text.replace("[-n]", "[0]"))
    changed = load_dataset(path)[0].eval_cfg.pred_postprocessor
    assert changed is not None
    assert changed["type"] != before, "an edited function must not find the results of the old one"
    with pytest.raises(SpecError, match="is code of a Python configuration; run that file itself"):
        registry.resolve("postprocessor", "d.py:last@000000000000")


def test_judges_of_the_configuration_and_of_the_evaluator(write: Write) -> None:
    judge = MODEL.replace("abbr='m'", "abbr='judge'").format(", query_per_second=1, run_cfg=dict(num_gpus=0)")
    text = HEAD + (
        "from opencompass.evaluator import GenericLLMEvaluator\n"
        f"judge_models = [{judge}]\n"
        "judge_template = dict(type=PromptTemplate, template='{question} {prediction} {obj_gold}')\n"
        "evaluator = dict(type=GenericLLMEvaluator, prompt_template=judge_template, judge_cfg=judge_models[0],\n"
        "    dataset_cfg=dict(type=JsonlDataset, path='q.jsonl', reader_cfg=reader_cfg),\n"
        "    dict_postprocessor=dict(type='generic_llmjudge_postprocess'))\n"
        "eval_cfg = dict(evaluator=evaluator)\n"
        f"models = [{MODEL.format('')}]\ndatasets = [{DATASET.format('')}]\n"
    )
    spec = load_evaluation(write("eval.py", text))
    assert [(model.abbr, model.rpm) for model in spec.judges] == [("judge", 60)]
    evaluator = spec.datasets[0].eval_cfg.evaluator
    assert evaluator["type"] == "GenericLLMEvaluator"
    assert evaluator["prompt_template"]["type"] == "PromptTemplate"
    assert (evaluator["judge_cfg"]["type"], evaluator["judge_cfg"]["rpm"]) == ("OpenAISDK", 60)
    assert "dataset_cfg" not in evaluator


def test_weights_that_other_engines_served_go_to_vllm(write: Write) -> None:
    block = (
        "dict(type='TurboMindModelwithChatTemplate', abbr='t', path='org/m', batch_size=16, run_cfg=dict(num_gpus=2),"
        " engine_config=dict(session_len=16384, max_batch_size=16, tp=2, cache_max_entry_count=0.8),"
        " gen_config=dict(top_k=1, temperature=1e-6, top_p=0.9, max_new_tokens=4096), max_seq_len=16384, max_out_len=4096)"
    )
    found = one_model(write, block)
    assert (found["type"], found["tensor_parallel_size"]) == ("VLLMwithChatTemplate", 2)
    assert found["engine_args"] == {"max_model_len": 16384}
    assert found["generation_kwargs"] == {"top_k": 1, "temperature": 1e-6, "top_p": 0.9}


JUDGED = HEAD + (
    "from opencompass.openicl.icl_evaluator import LMEvaluator\n"
    "eval_cfg = dict(evaluator=dict(type=LMEvaluator, prompt_template=dict(type=PromptTemplate, template='{prediction}')MORE))\n"
    f"models = [{MODEL.format('')}, {MODEL.replace(chr(39) + 'm' + chr(39), chr(39) + 'n' + chr(39)).format('')}]\n"
    f"datasets = [{DATASET.format('KEYS')}]\n"
)


def judged(write: Write, keys: str = "", more: str = "", rest: str = "") -> Translated:
    return translate(write("j.py", JUDGED.replace("MORE", more).replace("KEYS", keys) + rest))


@pytest.mark.parametrize("at_dataset", [True, False])
def test_the_mode_of_judging_goes_to_the_evaluator(write: Write, at_dataset: bool) -> None:
    asked = "mode='m2n', infer_order='double', base_models=[dict(abbr='n')]"
    judge = MODEL.replace("abbr='m'", "abbr='judge'").format("")
    rest = f"eval = dict(partitioner=dict(type='SubjectiveNaivePartitioner', judge_models=[{judge}]"
    rest += ("" if at_dataset else f", {asked}") + "))\n"
    found = judged(write, f", {asked}" if at_dataset else "", ", dict_postprocessor=dict(type='alpacaeval_postprocess')", rest)
    evaluator = found.datasets[0].value["eval_cfg"]["evaluator"]
    template = {"type": "PromptTemplate", "template": "{prediction}"}
    expected = {"type": "LMEvaluator", "prompt_template": template, "mode": "m2n", "infer_order": "double", "base_models": ["n"]}
    assert evaluator == expected
    assert not found.report.missing
    assert [block.value["abbr"] for block in found.judges] == ["judge"]
    assert any("alpacaeval_postprocess is not used" in line for line in found.report.lines())


def test_what_of_judging_has_no_counterpart_is_said(write: Write) -> None:
    for keys, rest, name in [
        (", mode='fixed'", "", "mode='fixed' of LMEvaluator"),
        ("", "meta_judge_model = dict(abbr='x')\n", "meta_judge_model"),
        ("", "eval = dict(partitioner=dict(type='X', compare_models=[dict(abbr='z')]))\n", "z"),
        (", mode='other'", "", "JsonlDataset(mode=…)"),
        (", infer_order='double', mode='singlescore'", "", None),
    ]:
        found = judged(write, keys, rest=rest)
        assert [m.name for m in found.report.missing] == ([name] if name else []), keys or rest
    assert any("given_pred" in line for line in judged(write, ", given_pred=[dict(abbr='n', path='x')]").report.lines())
