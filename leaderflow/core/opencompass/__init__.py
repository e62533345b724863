"""What OpenCompass calls things, and what that is here: its Python configurations become specs."""

from leaderflow.core.opencompass.evaluation import Translated, translate
from leaderflow.core.opencompass.report import Missing, NoCounterpart, Report

__all__ = ["Missing", "NoCounterpart", "Report", "Translated", "translate"]
