from __future__ import annotations

from typing import Any

import numpy as np

from inference.stage import capabilities, open_backend
from leaderflow.core.types import Answer, Backend, Prompt, Request, Settings
from tests.inference.helpers import model


def scripted(**arguments: Any) -> Backend:
    return open_backend(model(type="Scripted", arguments=arguments))


def say(backend: Backend, text: str, **settings: Any) -> Answer:
    [answer] = backend.generate([Request("k", Prompt(text=text), Settings(**settings))])
    return answer


def test_rules_then_the_reply() -> None:
    backend = scripted(rules={"capital": "Paris"}, reply="<{prompt}>")
    assert say(backend, "the capital").output == "Paris"
    assert say(backend, "else").output == "<else>"


def test_equal_questions_get_equal_answers_and_others_others() -> None:
    one, two = scripted(), scripted()
    texts = [f"q{i}" for i in range(20)]
    assert [say(one, t) for t in texts] == [say(two, t) for t in texts]
    assert len({say(one, t).output for t in texts}) == 4


def test_limits_and_stops() -> None:
    backend = scripted(reply="one two three. four")
    assert (say(backend, "q", max_out_len=2).status, say(backend, "q", max_out_len=2).output) == ("truncated", "one two")
    assert (say(backend, "q", stop=(".",)).status, say(backend, "q", stop=(".",)).output) == ("ok", "one two three")


def test_loglikelihood() -> None:
    backend = scripted(rules={"Paris": -0.25})
    requests = [Request(c, Prompt(text="x", continuation=c), Settings()) for c in (" Paris", " Rome or so")]
    paris, rome = backend.loglikelihood(requests)
    assert (paris.nll, paris.scored_tokens, paris.token_logprobs) == (0.25, 1, (-0.25,))
    assert rome.scored_tokens == 3
    assert rome.nll is not None
    assert rome.nll > 0


def test_embeddings_are_unit_vectors() -> None:
    vectors = scripted().embed(["a b", "c", ""])
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)


def test_its_rules_are_its_identity() -> None:
    assert scripted().identity != scripted(rules={"a": "b"}).identity
    assert "loglikelihood" in capabilities(model(type="Scripted"))
