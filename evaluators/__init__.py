"""Postprocessors, metrics, judges, code execution, repeats."""
