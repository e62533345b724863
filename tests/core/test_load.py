from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from leaderflow.core.errors import SpecError
from leaderflow.core.load import build_evaluation, dump_evaluation, load_dataset, load_evaluation, load_model
from leaderflow.core.specs import DatasetSpec, EvaluationSpec

from .conftest import DATASET, MODEL, Write

SPEC = """\
models: [api]
datasets:
  - sums
  - recipe: sums
    abbr: sums-5
    reader_cfg: {test_range: "[:5]"}
suite: nightly
"""


def refused(action: object, *, file: str = "", line: int | None = None, key: str = "", says: str = "") -> None:
    with pytest.raises(SpecError) as caught:
        action()  # type: ignore[operator]
    error = caught.value
    assert "\n" not in str(error)
    assert (error.file or "").endswith(file), error
    assert line is None or error.line == line, error
    assert (error.key or "") == key or not key, error
    assert says in str(error), error
    assert error.exit_code == 2


def test_a_spec_of_names_and_overrides(write: Write) -> None:
    spec = load_evaluation(write("e.yaml", SPEC))
    assert [d.abbr for d in spec.datasets] == ["sums", "sums-5"]
    assert [d.reader_cfg.test_range for d in spec.datasets] == [None, "[:5]"]
    assert spec.models[0].path == "served-name"
    assert spec.suite == "nightly"
    assert spec.datasets[0].source == str(write("recipes/datasets/sums/sums.yaml", DATASET))


def test_flat_keys_of_the_type_become_its_arguments(write: Write) -> None:
    write("recipes/datasets/sums/sums.yaml", DATASET + "task: addition\n")
    write("recipes/models/api.yaml", MODEL + "extra_body: {a: 1}\n")
    spec = build_evaluation(["api"], ["sums"])
    assert spec.datasets[0].arguments == {"task": "addition"}
    assert spec.models[0].arguments == {"extra_body": {"a": 1}}


@pytest.mark.parametrize(
    ("old", "new", "line", "key", "says"),
    [
        ("reader_cfg:", "reader_cgf:", 4, "reader_cgf", "did you mean 'reader_cfg'"),
        ("  output_column: answer", "  output_colum: answer", 6, "reader_cfg.output_colum", "did you mean 'output_column'"),
        ("abbr: sums", "# none", 1, "abbr", "missing key 'abbr'"),
        ("abbr: sums", "abbr: a b", 2, "abbr", "'a b'"),
        ("  input_columns: [question]", "  input_columns: 5", 5, "reader_cfg.input_columns", "a list, not 5"),
        ("  output_column: answer", "  test_range: [:5]", 6, "reader_cfg.test_range", "in quotes, as '[:100]'"),
        (
            "    type: tests.core.toys:Gen",
            "    type: GenInferencr",
            13,
            "infer_cfg.inferencer.type",
            "did you mean 'GenInferencer'",
        ),
        ("    max_out_len: 32", "    max_out_le: 32", 14, "infer_cfg.inferencer.max_out_le", "did you mean 'max_out_len'"),
        ("type: tests.core.toys:Rows", "type: HFDatset", 1, "type", "did you mean 'HFDataset'"),
        ("type: tests.core.toys:Rows", "type: tests.core.toys:Row\ntask: x", 1, "type", "cannot be loaded"),
        ("eval_cfg:", "eval_cfg:\n  api_key: sk-1234567890abcdefghij", 16, "eval_cfg.api_key", "a key must not stand in a spec"),
        ("path: owner/sums", "tsk: addition", 3, "tsk", "did you mean 'task'"),
        ("path: owner/sums", "k: 3", 1, "", "k 3 must be between 1 and n (1)"),
        ("path: owner/sums", "n: none", 3, "n", "a whole number, not 'none'"),
        ("path: owner/sums", "compat: opencompas", 3, "compat", "'opencompass'"),
        ("path: owner/sums", "matrix: [a]", 3, "matrix", "must be a mapping of names to lists"),
        ("path: owner/sums", "recipe: other", 3, "recipe", "no dataset recipe 'other'"),
    ],
)
def test_what_is_wrong_in_a_recipe_is_named(write: Write, old: str, new: str, line: int, key: str, says: str) -> None:
    write("recipes/datasets/sums/sums.yaml", DATASET.replace(old, new, 1))
    refused(lambda: load_dataset("sums"), file="sums.yaml", line=line, key=key, says=says)


def test_further_mistakes_are_counted(write: Write) -> None:
    write("recipes/datasets/sums/sums.yaml", DATASET.replace("abbr: sums", "# none") + "n: x\n")
    refused(lambda: load_dataset("sums"), says="(and 1 more)")


@pytest.mark.parametrize(
    "line",
    [
        "key: sk-1234567890abcdefghij",
        "key_env: sk-1234567890abcdefghij",
        "api_key: sk-1234567890abcdefghij",
        "extra_body: {headers: {Authorization: Bearer sk-1234567890abcdefghij}}",
        "openai_api_base: https://host/v1?api-key=sk-1",
        "openai_api_base: https://me:sk-1234567890abcdefghij@host/v1",
    ],
)
def test_a_key_in_a_spec_is_refused_and_not_repeated(write: Write, line: str) -> None:
    text = MODEL.replace("openai_api_base: http://127.0.0.1:9/v1\n", "") + line + "\n"
    write("recipes/models/api.yaml", text)
    with pytest.raises(SpecError, match="must not stand in a spec") as caught:
        load_model("api")
    assert "sk-" not in str(caught.value)
    assert caught.value.line == 4
    with pytest.raises(SpecError) as caught:
        build_evaluation(["api"], ["sums"], ["models.api.key=sk-1234567890abcdefghij"])
    assert "sk-" not in str(caught.value)


def test_names_that_do_not_exist_get_a_suggestion(write: Write) -> None:
    refused(lambda: load_dataset("smus"), says="did you mean 'sums'")
    refused(lambda: load_model("apy"), says="did you mean 'api'")
    refused(lambda: load_dataset("sums.yaml"), says="no file sums.yaml")
    refused(lambda: load_dataset("../../etc/passwd"), says="neither a recipe nor a file")
    refused(lambda: load_evaluation("nigthly"), says="neither a file nor a leaderboard recipe")
    path = write("e.yaml", "models: [api]\ndatasets:\n  - sums\n  - smus\n")
    refused(lambda: load_evaluation(path), file="e.yaml", line=4, key="datasets[1]", says="did you mean 'sums'")


def test_two_of_one_abbr_are_refused_with_the_second_place(write: Write) -> None:
    path = write("e.yaml", "models: [api]\ndatasets:\n  - sums\n  - recipe: sums\n    abbr: sums\n")
    refused(lambda: load_evaluation(path), file="e.yaml", line=5, key="datasets[1].abbr", says="two datasets have the abbr 'sums'")
    refused(lambda: build_evaluation(["api", "api"], ["sums"]), says="two models have the abbr 'api'")


def test_unknown_top_level_keys(write: Write) -> None:
    path = write("e.yaml", SPEC + "shardsize: 3\n")
    refused(lambda: load_evaluation(path), file="e.yaml", line=8, key="shardsize", says="did you mean 'shard_size'")
    path = write("e.yaml", SPEC + "summarizer: {summary_groups: [{name: a, subsets: [sums], wieghts: {}}]}\n")
    refused(lambda: load_evaluation(path), line=8, key="summarizer.summary_groups[0].wieghts", says="did you mean 'weights'")
    refused(lambda: load_evaluation(write("e.yaml", "models: [api]\n")), file="e.yaml", key="datasets", says="no dataset is named")
    refused(
        lambda: load_evaluation(write("e.yaml", "models: api\ndatasets: [sums]\n")), line=1, key="models", says="must be a list"
    )


def test_a_recipe_may_build_on_another_but_not_in_a_circle(write: Write) -> None:
    write("recipes/datasets/sums/sums_5.yaml", "recipe: sums\nabbr: sums_5\nreader_cfg: {test_range: '[:5]'}\n")
    (dataset,) = load_dataset("sums_5")
    assert (dataset.abbr, dataset.reader_cfg.test_range, dataset.path) == ("sums_5", "[:5]", "owner/sums")
    write("recipes/datasets/sums/a.yaml", "recipe: b\n")
    write("recipes/datasets/sums/b.yaml", "recipe: a\n")
    refused(lambda: load_dataset("a"), says="a → b → a")


def test_a_dumped_spec_loads_to_the_same(write: Write, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("recipes/models/local.yaml", MODEL.replace("abbr: api", "abbr: local").replace("served-name", "${LEADERFLOW_HOME}/m"))
    write("recipes/datasets/sums/family.yaml", FAMILY)
    spec = load_evaluation(write("e.yaml", SPEC), models=["api", "local"], datasets=["sums", "family"], shard_size=7)
    assert spec.models[1].path == str(folder / "home" / "m")
    manifest = write("manifest.json", json.dumps({"run": "r1", "spec": dump_evaluation(spec)}))
    assert load_evaluation(manifest) == spec
    monkeypatch.setenv("LEADERFLOW_HOME", str(folder / "elsewhere"))
    assert load_evaluation(manifest).models[1].path == str(folder / "elsewhere" / "m")


def test_models_by_served_name_and_by_folder(write: Write, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = load_model("openai/org/name:1", base_url="http://h/v1")
    assert (served.type, served.abbr, served.path, served.key) == ("OpenAISDK", "org-name-1", "org/name:1", None)
    assert served.openai_api_base == "http://h/v1"
    assert load_model("openai/gpt").key == "ENV"
    write("w/base/config.json", "{}")
    write("w/chat/tokenizer_config.json", '{"chat_template": "{{ messages }}"}')
    write("w/jinja/chat_template.jinja", "{{ messages }}")
    types = [load_model(f"hf/{folder}/w/{name}").type for name in ("base", "chat", "jinja")]
    assert types == ["HuggingFaceBaseModel", "HuggingFacewithChatTemplate", "HuggingFacewithChatTemplate"]
    refused(lambda: load_model("hf/./nowhere"), says="no folder")


def test_data_files_go_through_the_given_function(write: Write, folder: Path) -> None:
    path = write("mine.jsonl", '{"question": "1+1?", "answer": "2"}\n')
    plain = load_dataset("sums")[0]

    def from_file(file: Path) -> DatasetSpec:
        return plain.model_copy(update={"abbr": file.stem, "path": str(file)})

    spec = build_evaluation(["api"], [str(path)], from_file=from_file)
    assert (spec.datasets[0].abbr, spec.datasets[0].path) == ("mine", str(path))
    refused(lambda: build_evaluation(["api"], [str(path)]), says="is a data file")
    refused(lambda: build_evaluation(["api"], ["absent.jsonl"], from_file=from_file), says="no file absent.jsonl")


def test_forms_may_name_recipes_only(write: Write) -> None:
    write("recipes/datasets/sums/safe.yaml", DATASET.replace("tests.core.toys:", "").replace("type: Rows", "type: HFDataset"))
    path = write("mine.yaml", DATASET)
    refused(lambda: build_evaluation(["api"], [str(path)], files=False), says="only names of recipes")
    refused(lambda: build_evaluation(["api"], [{"recipe": "sums"}], files=False), says="only names of recipes")
    refused(lambda: build_evaluation(["api"], ["sums"], files=False), says="honoured only in files that you name")
    refused(lambda: build_evaluation(["api"], ["sums"], ["eval_cfg.evaluator.type=os:system"]), says="honoured only in files")
    refused(lambda: build_evaluation(["api"], ["sums"], ["eval_cfg.evaluator={type: os:system}"]), says="honoured only in files")
    refused(lambda: build_evaluation(["api"], ["sums"], ["prepare=os:system"]), says="honoured only in files")
    base = "models.*.openai_api_base=http://elsewhere/v1"
    assert build_evaluation(["api"], ["sums"], [base]).models[0].openai_api_base == "http://elsewhere/v1"
    refused(lambda: build_evaluation(["api"], ["sums"], [base], files=False), says="'openai_api_base' is honoured only in files")


FAMILY = DATASET.replace("abbr: sums", "abbr: fam_${part}").replace("path: owner/sums", "local: {test: 'p/${part}.csv'}") + (
    "group: fam\nmatrix:\n  part: [a, b, c]\n"
)


def test_a_matrix_gives_a_dataset_for_each_combination(write: Write, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    write("recipes/datasets/sums/family.yaml", FAMILY)
    spec = build_evaluation(["api"], ["family"])
    assert [d.abbr for d in spec.datasets] == ["fam_a", "fam_b", "fam_c"]
    assert spec.datasets[1].local == {"test": "p/b.csv"}
    (group,) = spec.summarizer.summary_groups
    assert (group.name, group.subsets, group.expected) == ("fam", ["fam_a", "fam_b", "fam_c"], 3)

    write("data/p/a.csv", "")
    write("data/p/c.csv", "")
    with caplog.at_level(logging.WARNING, logger="leaderflow"):
        spec = build_evaluation(["api"], ["family"], data_dir=str(folder / "data"))
    assert [d.abbr for d in spec.datasets] == ["fam_a", "fam_c"]
    assert spec.summarizer.summary_groups[0].expected == 3
    assert [r.getMessage() for r in caplog.records] == [
        f"fam: 1 of 3 members are not below {folder / 'data'} and are left out: fam_b"
    ]
    write("other/x.csv", "")
    assert len(load_dataset("family", data_dir=folder / "other")) == 3


def test_one_member_of_a_family_is_named_like_a_recipe(write: Write) -> None:
    write("recipes/datasets/sums/family.yaml", FAMILY)
    spec = build_evaluation(["api"], ["fam_b"])
    assert [d.abbr for d in spec.datasets] == ["fam_b"]
    assert spec.datasets[0].local == {"test": "p/b.csv"}
    assert not spec.summarizer.summary_groups
    refused(lambda: build_evaluation(["api"], ["fam_bb"]), says="did you mean 'fam_b'")
    write("recipes/datasets/sums/broken.yaml", "type: [\nmatrix: 7\n")
    assert [d.abbr for d in build_evaluation(["api"], ["fam_b"]).datasets] == ["fam_b"], "another family's fault is not told here"
    refused(lambda: build_evaluation(["api"], ["fam_bb"]), says="did you mean 'fam_b'")
    refused(lambda: build_evaluation(["api"], ["broken"]), says="broken.yaml:3: is not YAML")


def test_a_narrowed_matrix_still_knows_its_family(write: Write) -> None:
    write("recipes/datasets/sums/family.yaml", FAMILY)
    spec = build_evaluation(["api"], [{"recipe": "family", "matrix": {"part": ["b"]}}])
    assert [d.abbr for d in spec.datasets] == ["fam_b"]
    assert spec.summarizer.summary_groups[0].expected == 3


def test_matrix_values_and_slips(write: Write) -> None:
    text = FAMILY.replace("part: [a, b, c]", "part: [{id: x, n: 2}, {id: y, n: 1}]").replace("${part}", "${part.id}")
    write("recipes/datasets/sums/family.yaml", text + "n: ${part.n}\n")
    assert [(d.abbr, d.n) for d in load_dataset("family")] == [("fam_x", 2), ("fam_y", 1)]
    write("recipes/datasets/sums/family.yaml", FAMILY.replace("fam_${part}", "fam_${prt}"))
    refused(lambda: load_dataset("family"), key="matrix", says="did you mean 'part'")
    write("recipes/datasets/sums/family.yaml", FAMILY.replace('"{question}"', '"${x}$ {question}"'))
    assert "${x}$" in json.dumps(load_dataset("family")[0].infer_cfg.prompt_template)


def test_a_missing_data_directory(write: Write) -> None:
    refused(lambda: build_evaluation(["api"], ["sums"], data_dir="nowhere"), key="data_dir", says="no data directory")


def test_shipped_model_recipes(folder: Path) -> None:
    assert load_model("smollm2-135m").path == str(folder / "home" / "models" / "smollm2-135m")
    assert load_model("openai-compatible").type == "OpenAISDK"


def test_the_spec_of_one_dataset_file(write: Write, folder: Path) -> None:
    write("mine/rows.jsonl", "{}")
    path = write("mine/d.yaml", DATASET.replace("owner/sums", "rows.jsonl"))
    (dataset,) = load_dataset(path)
    assert (dataset.path, dataset.source) == (str(folder / "mine" / "rows.jsonl"), str(path))
    assert isinstance(build_evaluation(["api"], [str(path)]), EvaluationSpec)


def test_judges_are_named_as_models_are(write: Write) -> None:
    write("spec.yaml", "models: [api]\ndatasets: [sums]\njudges: [openai/critic]\n")
    assert [judge.path for judge in load_evaluation("spec.yaml").judges] == ["critic"]
    spec = load_evaluation("spec.yaml", judges=["api"])
    assert [judge.abbr for judge in spec.judges] == ["api"]
    assert load_evaluation(write("again.json", json.dumps({"spec": dump_evaluation(spec)}))).judges == spec.judges
    refused(lambda: load_evaluation("spec.yaml", judges=["nosuch"]), says="nosuch")


def test_an_evaluator_may_have_postprocessors_of_its_own(write: Write) -> None:
    own = ["eval_cfg.evaluator.pred_postprocessor={type: first-capital}"]
    assert load_dataset("sums", overrides=own)[0].eval_cfg.evaluator["pred_postprocessor"] == {"type": "first-capital"}
    wrong = ["eval_cfg.evaluator.pred_postprocessor={type: first-capitl}"]
    refused(lambda: load_dataset("sums", overrides=wrong), says="did you mean 'first-capital'")
