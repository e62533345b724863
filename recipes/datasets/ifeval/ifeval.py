"""IFEval: the prompt and what the checker needs."""

from leaderflow.core.types import Row


def prepare(row: Row) -> Row:
    """Put the instructions and their arguments together; a typed source pads every argument that is not used with null."""
    arguments = [{name: value for name, value in given.items() if value is not None} for given in row["kwargs"]]
    instructions = {"instruction_id_list": row["instruction_id_list"], "kwargs": arguments, "prompt": row["prompt"]}
    return {"prompt": row["prompt"], "instructions": instructions}
