"""Few-shot retrieval: which rows of the train split stand as in-context examples (ICE) before a sample."""
