"""Judges: evaluators that put questions to models. How they are asked is `leaderflow.core.types.Judging`; `tasks.judge` asks."""
