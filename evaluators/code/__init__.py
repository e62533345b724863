"""Evaluators that execute what a model wrote, in the sandbox of `leaderflow.core.sandbox`. `docs/sandbox.md` states the rules."""
