"""The languages that programs can be written in, and how each is compiled and run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from leaderflow.core.errors import SpecError, did_you_mean


@dataclass(frozen=True, slots=True)
class Toolchain:
    """How a program becomes a process.

    Attributes:
        file: name of the source file.
        run: the command; for Python its own interpreter is put in front.
        compile: the command that makes it runnable, if any.
        needs: the programs that must be installed.
        reserves: whether the runtime reserves far more address space than it uses, so that only its data can be limited.
    """

    file: str
    run: tuple[str, ...]
    compile: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    reserves: bool = False


TOOLCHAINS: Mapping[str, Toolchain] = {
    "python": Toolchain("program.py", ("program.py",)),
    "javascript": Toolchain("program.js", ("node", "--max-old-space-size=512", "program.js"), needs=("node",), reserves=True),
    "cpp": Toolchain("program.cpp", ("./program",), ("g++", "-std=c++17", "-w", "-o", "program", "program.cpp"), ("g++",)),
    "bash": Toolchain("program.sh", ("bash", "program.sh"), needs=("bash",)),
}


def toolchain(language: str) -> Toolchain:
    """Return how a language is run.

    Raises:
        SpecError: the language is unknown here.
    """
    if language not in TOOLCHAINS:
        known = ", ".join(TOOLCHAINS)
        raise SpecError(f"programs in {language!r} cannot be run here (known: {known}){did_you_mean(language, TOOLCHAINS)}")
    return TOOLCHAINS[language]
