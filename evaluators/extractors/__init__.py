"""Find the answer in a model's reply and say where it stands. Where no answer is stated, none is found: a mention is no answer."""
