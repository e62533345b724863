"""The same 200 ARC questions scored by lm-eval and by leaderflow, on the same weights and with the same prompts.

Prints how many choices agree and the largest difference between two log-likelihood sums. lm-eval lives in an environment of its
own, made in a temporary folder, or is that of the Python that LM_EVAL_PYTHON names. The questions come from LEADERFLOW_DATA.

    python -m benchmarks.lm_eval_parity
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from inference.huggingface import fetch
from inference.huggingface.backend import HuggingFaceBaseModel
from leaderflow.core.identity import sha256_hex
from leaderflow.core.specs import ModelSpec
from leaderflow.core.types import Prompt, Request, Settings

ROWS = 200

THERE = """
import json, sys
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM
pairs = json.load(sys.stdin)
model = HFLM(pretrained=sys.argv[1], dtype="float32", batch_size=16, device="cpu")
asked = [Instance("loglikelihood", {}, tuple(pair), at) for at, pair in enumerate(pairs)]
print("SUMS" + json.dumps([float(total) for total, _ in model.loglikelihood(asked)]))
"""

Question = list[tuple[str, str]]
"""(context, continuation) of each option, as lm-eval's task arc_challenge writes them."""


def questions(data: Path) -> list[Question]:
    """Return the first rows of ARC-Challenge's test set."""
    lines = (data / "ARC" / "ARC-c" / "arc_challenge_test.jsonl").read_text("utf-8").splitlines()[:ROWS]
    rows = [json.loads(line) for line in lines]
    return [[(f"Question: {_stem(row)}\nAnswer:", f" {text}") for text in _options(row)] for row in rows]


def _stem(row: dict[str, object]) -> str:
    asked = row["question"]
    return str(asked["stem"] if isinstance(asked, dict) else asked)


def _options(row: dict[str, object]) -> list[str]:
    asked = row["question"]
    choices = asked["choices"] if isinstance(asked, dict) else row["choices"]
    return [str(choice["text"]) for choice in choices] if isinstance(choices, list) else list(choices["text"])  # type: ignore[index]


def by_lm_eval(python: Path, folder: Path, pairs: Question) -> list[float]:
    """Return the sums that lm-eval gives."""
    env = {**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONPATH": ""}
    command = [str(python), "-c", THERE, str(folder)]
    done = subprocess.run(command, input=json.dumps(pairs), capture_output=True, text=True, env=env, check=False)
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    found: list[float] = json.loads(done.stdout.rpartition("SUMS")[2])
    return found


def by_leaderflow(folder: Path, pairs: Question) -> list[float]:
    """Return the sums that leaderflow gives."""
    spec = ModelSpec(type="HuggingFaceBaseModel", abbr="model", path=str(folder), batch_size=16)
    backend = HuggingFaceBaseModel(spec, dtype="float32")
    asked = [Request(sha256_hex(str(at)), Prompt(text=c, continuation=t), Settings()) for at, (c, t) in enumerate(pairs)]
    found = {answer.request_key: -(answer.nll or 0.0) for answer in backend.loglikelihood(asked)}
    backend.close()
    return [found[request.request_key] for request in asked]


def environment(folder: Path) -> Path:
    """Return a Python that has lm-eval; makes an environment in `folder` where none is named."""
    if named := os.environ.get("LM_EVAL_PYTHON"):
        return Path(named)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    packages = ["torch==2.13.0", "transformers==5.24.0", "lm_eval[hf]"]
    subprocess.run([str(folder / "bin" / "pip"), "install", "--quiet", *packages], check=True)
    return folder / "bin" / "python"


def main() -> None:
    asked = questions(Path(os.environ.get("LEADERFLOW_DATA") or "../shared/data"))
    folder = fetch.get("smollm2-135m")
    pairs = [pair for question in asked for pair in question]
    with tempfile.TemporaryDirectory() as scratch:
        theirs = by_lm_eval(environment(Path(scratch) / "lm-eval"), folder, pairs)
    ours = by_leaderflow(folder, pairs)
    same, at = 0, 0
    for question in asked:
        end = at + len(question)
        same += ours[at:end].index(max(ours[at:end])) == theirs[at:end].index(max(theirs[at:end]))
        at = end
    worst = max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
    print(f"lm-eval and leaderflow on {len(asked)} ARC questions: {same} choices agree, sums within {worst:.1e}")


if __name__ == "__main__":
    main()
