"""SuperGLUE tasks as choices. The files spell labels out, the hub numbers them."""

from leaderflow.core.types import Json, Row
from readers.options import multiple_choice

INFERENCE = ("entailment", "contradiction", "neutral")
ENTAILMENT = ("entailment", "not_entailment")
ASKED = {"cause": "What was the cause of this?", "effect": "What happened as a result?"}


def boolq(row: Row) -> Row:
    """A yes-no question about a passage; `asked` is the question alone."""
    truth = _truth(row["label"] if "label" in row else row["answer"])
    question = f"{row['passage']}\n\nQuestion: {row['question']}?"
    return multiple_choice(question, ["Yes", "No"], 0 if truth else 1, passage=row["passage"], asked=row["question"])


def copa(row: Row) -> Row:
    """The more plausible cause or effect."""
    return multiple_choice(f"{row['premise']}\n{ASKED[row['question']]}", [row["choice1"], row["choice2"]], row["label"])


def inference(row: Row) -> Row:
    """Natural language inference with three labels."""
    texts = ["It follows from the premise", "It contradicts the premise", "Neither follows nor contradicts"]
    return multiple_choice(_pair(row), texts, _position(row["label"], INFERENCE))


def entailment(row: Row) -> Row:
    """Natural language inference with two labels."""
    return multiple_choice(_pair(row), ["It follows from the premise", "It does not follow"], _position(row["label"], ENTAILMENT))


def wic(row: Row) -> Row:
    """One meaning of a word or two."""
    question = f"1. {row['sentence1']}\n2. {row['sentence2']}\n\nDoes the word “{row['word']}” have one meaning in both sentences?"
    return multiple_choice(question, ["Yes", "No"], 0 if _truth(row["label"]) else 1)


def wsc(row: Row) -> Row:
    """What a pronoun stands for."""
    spans = row.get("target", row)
    question = f"{row['text']}\n\nDoes “{spans['span2_text']}” refer to “{spans['span1_text']}” here?"
    return multiple_choice(question, ["Yes", "No"], 0 if _truth(row["label"]) else 1)


def _pair(row: Row) -> str:
    premise, hypothesis = (row.get(a, row.get(b)) for a, b in (("premise", "sentence1"), ("hypothesis", "sentence2")))
    return f"Premise: {premise}\nStatement: {hypothesis}\n\nHow does the statement relate to the premise?"


def _position(label: Json, names: tuple[str, ...]) -> int:
    return label if isinstance(label, int) else names.index(label)


def _truth(label: Json) -> bool:
    return label.lower() == "true" if isinstance(label, str) else bool(label)
