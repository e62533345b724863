"""Python configurations in every style that people write them in."""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from leaderflow.core.errors import SpecError
from leaderflow.core.pyconfig import Block, is_local, is_reference, load_config, reference
from tests.core.pyconfig.conftest import Write


def values(path: Path, root: Path | None = None) -> dict[str, Any]:
    return load_config(path, root).values


def test_imports_of_opencompass_are_references(write: Write) -> None:
    path = write(
        "a.py",
        "from opencompass.datasets import GSM8KDataset, gsm8k_postprocess as clean\n"
        "from opencompass.openicl.icl_retriever.icl_zero_retriever import ZeroRetriever\n"
        "from templating import RawPromptTemplate\n"
        "import opencompass.models as models_module\n"
        "block = dict(type=GSM8KDataset, clean=clean, model=models_module.OpenAISDK)\n",
    )
    found = values(path)
    assert found["GSM8KDataset"] is reference("opencompass.datasets", "GSM8KDataset")
    assert (found["clean"].__module__, found["clean"].__name__) == ("opencompass.datasets", "gsm8k_postprocess")
    assert found["RawPromptTemplate"].__module__ == "templating"
    assert found["block"]["model"] is reference("opencompass.models", "OpenAISDK")


def test_blocks_know_their_line_and_their_file(write: Write) -> None:
    found = values(write("a.py", "x = 1\nblock = dict(\n    inner={\n        'a': 1,\n    },\n)\n"))
    assert found["block"].line == 2
    assert found["block"].inner.line == 3
    assert found["block"].file.endswith("a.py")
    twin = copy.deepcopy(found["block"])
    assert (twin, twin.line, twin.inner.line) == (found["block"], 2, 3)
    assert twin.inner is not found["block"].inner


def test_keys_are_attributes_too() -> None:
    block = Block(a=Block(b=1))
    block.a.b = 2
    assert block == {"a": {"b": 2}}
    assert block.deepcopy() == block
    with pytest.raises(AttributeError, match="no key 'c'"):
        _ = block.c


def test_base_files_relative_and_whole(write: Write) -> None:
    write("base/one.py", "one_datasets = [dict(abbr='one')]\n_hidden = 1\n")
    write("base/pointer.py", "from mmengine.config import read_base\nwith read_base():\n    from .one import one_datasets\n")
    write("shared.py", "shared = dict(a=1)\n")
    path = write(
        "base/deep/main.py",
        "from mmengine.config import read_base\n"
        "with read_base():\n"
        "    from ..pointer import one_datasets\n"
        "    from ..one import *\n"
        "    from ...shared import shared as renamed\n"
        "    from .. import one\n"
        "datasets = [*one_datasets]\n",
    )
    found = values(path)
    assert found["datasets"] == [{"abbr": "one"}]
    assert found["renamed"] == {"a": 1}
    assert found["one"].one_datasets == [{"abbr": "one"}]
    assert "_hidden" not in found


def test_base_files_of_an_opencompass_at_hand(write: Write, tmp_path: Path) -> None:
    write("oc/configs/datasets/x/x_gen.py", "x_datasets = [dict(abbr='x')]\n")
    text = "from mmengine.config import read_base\nwith read_base():\n    from {} import x_datasets\n"
    absolute = write("mine/a.py", text.format("opencompass.configs.datasets.x.x_gen"))
    relative = write("mine/b.py", text.format(".datasets.x.x_gen"))
    assert values(absolute, tmp_path / "oc")["x_datasets"] == values(relative, tmp_path / "oc")["x_datasets"] == [{"abbr": "x"}]


def test_each_import_of_a_base_file_gives_its_own_objects(write: Write) -> None:
    write("base.py", "cfg = dict(a=1)\nother = dict(inner=cfg)\n")
    path = write("main.py", "from .base import cfg, other\nfrom .base import cfg as again\ncfg['a'] = 2\n")
    assert values(path)["again"] == {"a": 1}


def test_families_by_loops_f_strings_and_locals(write: Write) -> None:
    path = write(
        "a.py",
        "from copy import deepcopy\n"
        "names = ['law', 'art']\n"
        "mmlu_datasets = []\n"
        "for _name in names:\n"
        "    mmlu_datasets.append(dict(abbr=f'mmlu_{_name}', hint=f'About {_name.replace(\"_\", \" \")}: {{q}}'))\n"
        "del _name\n"
        "other_datasets = [deepcopy(d) for d in mmlu_datasets]\n"
        "for d in other_datasets:\n"
        "    d['abbr'] += '-2'\n"
        "datasets = sum([v for k, v in locals().items() if k.endswith('_datasets')], [])\n"
        "again = sum((v for k, v in locals().items() if k.endswith('_datasets')), [])\n",
    )
    found = values(path)
    assert [d["abbr"] for d in found["datasets"]] == ["mmlu_law", "mmlu_art", "mmlu_law-2", "mmlu_art-2"]
    assert found["datasets"][0]["hint"] == "About law: {q}"
    assert found["again"] == found["datasets"]


def test_lambdas_functions_classes_and_the_main_guard(write: Write) -> None:
    path = write(
        "a.py",
        "import re\n"
        "from opencompass.openicl.icl_evaluator import BaseEvaluator, AccEvaluator\n"
        "def last_word(text):\n    return re.split(r'\\s', text)[-1]\n"
        "class Mine(BaseEvaluator):\n    def score(self, predictions, references):\n        return {'score': 1}\n"
        "built = AccEvaluator()\n"
        "with_argument = AccEvaluator(a=1)\n"
        "name = AccEvaluator.__name__\n"
        "is_one = isinstance(3, AccEvaluator) or issubclass(Mine, BaseEvaluator)\n"
        "strip = lambda text: text.strip()\n"
        "if __name__ == '__main__':\n    raise SystemExit('never')\n",
    )
    found = values(path)
    assert found["last_word"]("a b c") == "c"
    assert found["Mine"]().score([], []) == {"score": 1}
    assert found["built"] == {"type": found["AccEvaluator"]}
    assert found["with_argument"] == {"type": found["AccEvaluator"], "a": 1}
    assert (found["name"], found["is_one"]) == ("AccEvaluator", True)
    assert is_local(found["strip"])
    assert is_local(found["Mine"])
    assert not is_local(found["AccEvaluator"])
    assert not is_local(json.dumps)


def test_a_local_function_may_call_a_named_postprocessor(write: Write) -> None:
    path = write(
        "a.py",
        "from opencompass.utils.text_postprocessors import first_option_postprocess\n"
        "def clean(text):\n    return first_option_postprocess(text, 'ABCD').lower()\n",
    )
    assert values(path)["clean"]("The answer is B.") == "b"


def test_what_is_not_installed_is_a_reference(write: Write) -> None:
    path = write(
        "a.py", "from my_lab.datasets import LabDataset\nimport not_there.at_all as gone\nimport torch\ndtype = torch.float16\n"
    )
    found = values(path)
    assert is_reference(found["LabDataset"])
    assert found["gone"].Thing is reference("not_there.at_all", "Thing")
    assert found["dtype"].__name__ == "float16"


def test_names_of_a_star_import_and_names_that_nobody_defines(write: Write) -> None:
    found = values(write("a.py", "from opencompass.datasets import *\nblock = dict(type=GSM8KDataset)\n"))
    assert found["block"]["type"] is reference("opencompass.datasets", "GSM8KDataset")
    found = values(write("b.py", "block = dict(type=Nowhere, cfg=reader_cfg)\n"))
    assert found["block"]["cfg"] is reference("", "reader_cfg")


def test_nothing_is_left_in_sys_modules(write: Write) -> None:
    write("base.py", "from dataclasses import dataclass\n@dataclass\nclass Box:\n    a: 'int'\nx = Box(1)\n")
    path = write("main.py", "from opencompass.datasets import A\nfrom .base import x\nfrom mmengine.config import read_base\n")
    before = set(sys.modules)
    assert values(path)["x"].a == 1
    assert {name for name in set(sys.modules) - before if "opencompass" in name or "mmengine" in name or "<" in name} == set()


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("x = 1\ny = (\n", 2, "is not Python"),
        ("x = 1\nraise ValueError('no luck')\n", 2, "ValueError: no luck"),
        ("x = 1\ny = [*gsm8k_datasets]\n", 2, "the name 'gsm8k_datasets' is not defined"),
        ("x = sum([a_datasets], [])\n", 1, "the name 'a_datasets' is not defined"),
        ("x = os.environ['HOME']\n", 1, "the name 'os' is not defined"),
        ("def f():\n    return 1 / 0\nx = f()\n", 2, "ZeroDivisionError"),
        ("import sys\nsys.exit(3)\n", 2, "SystemExit: 3"),
        ("x = 1\nfrom .missing import y\n", 2, "there is no base file for '.missing'"),
        ("from opencompass.configs.datasets.x import y\n", 1, "--opencompass-root"),
        ("from .base import nothing\n", 1, "defines no 'nothing'; did you mean 'nothings'?"),
        ("from .broken import x\n", None, "broken.py:2: is not Python"),
        ("from opencompass.utils import f\ng = f('x')\n", 2, "leaderflow has no postprocessor of that name"),
    ],
)
def test_every_failure_names_file_and_line(write: Write, text: str, line: int | None, said: str) -> None:
    write("base.py", "nothings = 1\n")
    write("broken.py", "x = 1\nx = = 2\n")
    path = write("a.py", text)
    with pytest.raises(SpecError) as failed:
        load_config(path)
    message = str(failed.value)
    assert said in message
    assert "\n" not in message
    if line is not None:
        assert f"a.py:{line}: " in message


def test_base_files_that_build_on_each_other(write: Write) -> None:
    write("b.py", "from .a import x\n")
    path = write("a.py", "from .b import x\n")
    with pytest.raises(SpecError, match=r"base files build on each other: .*a\.py → .*b\.py → .*a\.py"):
        load_config(path)


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"gone\.py: there is no such file"):
        load_config(tmp_path / "gone.py")
