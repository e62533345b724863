"""Summary groups, comparison, history, reports."""
