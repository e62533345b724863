"""Find the answer in a model's reply, and say where it stands. No answer stated means none extracted: a mention is not an answer."""
