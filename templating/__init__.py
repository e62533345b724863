"""Prompts: templates, meta_template, in-context examples."""
