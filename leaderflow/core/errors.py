"""The one exception tree.

A message says what was wrong, where (file, line, key) and what to do. The command line prints it as one line and ends with
the class's ``exit_code``; ``--debug`` shows the trace.
"""

from __future__ import annotations

from collections.abc import Iterable


class LeaderflowError(Exception):
    """Anything that ends a command with one clean line (exit code 1)."""

    exit_code = 1


class UsageError(LeaderflowError):
    """Wrong usage or a wrong spec: nothing was run and nothing was written (exit code 2)."""

    exit_code = 2


class SpecError(UsageError):
    """A spec, recipe or ``--set`` is wrong.

    Args:
        message: what is wrong and what to do.
        file: the YAML or Python file, where there is one.
        line: 1-based line in that file.
        key: dotted key, such as ``datasets[0].infer_cfg.inferencer``.
    """

    def __init__(self, message: str, *, file: str | None = None, line: int | None = None, key: str | None = None) -> None:
        place = f"{file}:{line}" if file and line else file
        said = None if place and key and place.endswith(f" {key}") else key  # a setting's place is its key: --set n
        super().__init__(": ".join(part for part in (place, said, message) if part))
        self.message, self.file, self.line, self.key = message, file, line, key


class DataError(UsageError):
    """A dataset's rows or files are wrong; found at the end of the read step, before any request."""


class TemplateError(UsageError):
    """A template and the rows or the model do not go together."""


class StoreError(LeaderflowError):
    """The store, or another file of leaderflow's own, cannot be read or written."""

    @classmethod
    def unreadable(cls, path: object, exc: OSError) -> StoreError:
        """Return the error of an artifact that cannot be read."""
        return cls(f"artifact {path} cannot be read: {exc.strerror}; run the same command again")

    @classmethod
    def unwritable(cls, path: object, exc: OSError) -> StoreError:
        """Return the error of a file that the file system refuses to write: full, read-only, no permission."""
        return cls(
            f"cannot write {path}: {exc.strerror}; set LEADERFLOW_STORE (or LEADERFLOW_HOME, if it lies there) to a writable folder"
        )


class BackendError(LeaderflowError):
    """A model cannot be reached, loaded or used at all: the whole run ends.

    Args:
        message: what is wrong and what to do.
        retryable: the same request may succeed later (a dead engine, a server that restarts).
    """

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable


class RegressionFound(LeaderflowError):
    """A comparison found a significant regression beyond its threshold (exit code 4)."""

    exit_code = 4


def did_you_mean(name: str, known: Iterable[str], likeness: float = 0.6) -> str:
    """Return ``"; did you mean 'x'?"``, or an empty string where nothing known is close to `name`: as like as `likeness`, of 1."""
    from rapidfuzz import process  # only a mistake needs it
    from rapidfuzz.distance import DamerauLevenshtein

    scorer = DamerauLevenshtein.normalized_similarity
    best = process.extractOne(name, list(known), scorer=scorer, processor=str.lower, score_cutoff=likeness)
    return f"; did you mean {best[0]!r}?" if best else ""
