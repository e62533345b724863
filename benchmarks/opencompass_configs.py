"""How many of OpenCompass' own configurations load here, and how many are fully mapped.

Fetches the wheel ``opencompass`` without its dependencies into a temporary folder, translates every file below its configs folder
and prints the counts and the most frequent missing names::

    python -m benchmarks.opencompass_configs [FOLDER-OF-THE-PACKAGE]

A file counts as mapped where nothing is missing and every model and dataset it defines is a valid spec; *natively*, where none of
them needs code of the package itself.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from leaderflow.core.errors import LeaderflowError
from leaderflow.core.opencompass import Translated, translate
from leaderflow.core.opencompass.package import ROOT
from leaderflow.core.types import Json
from leaderflow.core.validate import dataset_spec, model_spec

CODE = '"opencompass.'
"""How a type begins that is code of the package."""


@dataclass
class Tally:
    """What became of the files."""

    files: int = 0
    loaded: int = 0
    mapped: int = 0
    native: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    refused: list[str] = field(default_factory=list)
    lent: Counter[str] = field(default_factory=Counter)
    """Types that are code of the package."""


def main(folder: Path | None) -> None:
    """Print the counts as one JSON object."""
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as temporary:
        package = folder or fetched(Path(temporary))
        os.environ[ROOT] = str(package)
        started = time.perf_counter()
        tally = survey(package)
        seconds = time.perf_counter() - started
    print(json.dumps(summary(tally, seconds), indent=1, ensure_ascii=False))


def fetched(folder: Path) -> Path:
    """Download and unpack the wheel; return the package's folder."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--dest", str(folder), "opencompass"]
    subprocess.run(command, check=True)
    with zipfile.ZipFile(next(folder.glob("opencompass-*.whl"))) as wheel:
        wheel.extractall(folder / "wheel")
    return folder / "wheel" / "opencompass"


def survey(package: Path) -> Tally:
    """Translate every configuration of the package."""
    tally = Tally()
    for file in sorted((package / "configs").rglob("*.py")):
        tally.files += 1
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                found = translate(file)
        except LeaderflowError as exc:
            tally.refused.append(" ".join(str(exc).split()).replace(str(package), "opencompass"))
            continue
        tally.loaded += 1
        _count(found, tally)
    return tally


def _count(found: Translated, tally: Tally) -> None:
    missing = [f"{m.kind} {m.name}" for m in found.report.missing] or _invalid(found)
    tally.missing.update(set(missing))
    if missing:
        return
    tally.mapped += 1
    blocks = [block.value for block in (*found.models, *found.datasets)]
    tally.native += CODE not in json.dumps(blocks)
    tally.lent.update({name for block in blocks for name in _types(block) if name.startswith(CODE[1:])})


def _invalid(found: Translated) -> list[str]:
    wrong = []
    for check, blocks in ((model_spec, found.models), (dataset_spec, found.datasets)):
        for block in blocks:
            try:
                check(block)
            except LeaderflowError as exc:
                wrong.append(f"refused: {getattr(exc, 'message', exc)}"[:160])
    return wrong


def _types(value: Json) -> list[str]:
    if isinstance(value, list):
        return [name for inner in value for name in _types(inner)]
    if not isinstance(value, dict):
        return []
    own = [str(value["type"])] if isinstance(value.get("type"), str) else []
    return own + _types(list(value.values()))


def summary(tally: Tally, seconds: float) -> dict[str, Json]:
    """Return the figures."""

    def share(count: int) -> str:
        return f"{count} ({100 * count / tally.files:.1f} %)"

    return {
        "files": tally.files,
        "load": share(tally.loaded),
        "fully mapped": share(tally.mapped),
        "fully mapped without code of the package": share(tally.native),
        "seconds": round(seconds, 1),
        "do not load": tally.refused,
        "most frequent missing": dict(tally.missing.most_common(60)),
        "most frequent code of the package": dict(tally.lent.most_common(40)),
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
