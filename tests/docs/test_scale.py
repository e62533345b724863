"""What docs/scale.md shows of a shared store works."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.s3 import Bucket, _s3_server, s3

__all__ = ["_s3_server", "s3"]

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")


def test_the_commands_for_a_store_on_s3(s3: Bucket) -> None:
    Bucket(s3.address, "my-bucket").make()
    [text] = re.findall(r"^```sh\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert "/leaderboards?region" in text
    typed = text.replace("?region", f"?endpoint_override={s3.address}&scheme=http&region")
    typed = typed.replace("leaderflow runs", f"{sys.executable} -m leaderflow runs")
    environment = {**os.environ, "PYTHONSAFEPATH": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["sh", "-euc", typed], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "no run yet" in done.stdout
