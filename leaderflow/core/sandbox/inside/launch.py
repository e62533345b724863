"""Starts a program: writes its file, compiles it where the language wants that, and becomes it."""

from __future__ import annotations

import os
import subprocess

import confine


def main() -> None:
    """Become the program; what is left of standard input is the program's."""
    job = confine.begin()
    with open(job["file"], "w", encoding="utf-8", errors="surrogatepass") as file:
        file.write(job["source"])
    if job["compile"]:
        done = subprocess.run(job["compile"], stdin=subprocess.DEVNULL, stdout=2, stderr=2, check=False)
        if done.returncode:
            raise SystemExit(1)
    os.execvpe(job["run"][0], job["run"], {**os.environ, "PYTHONPATH": os.pathsep.join(job["path"])})


if __name__ == "__main__":
    main()
