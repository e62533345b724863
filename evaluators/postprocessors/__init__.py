"""Postprocessors with the recorded behaviour of OpenCompass, faults included. Our own extractors are in `evaluators.extractors`."""
