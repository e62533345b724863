"""An agent: the model may call tools, turn after turn, before it answers (OpenAI's tool calls)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from inference.inferencers.base import Keep, Stored
from inference.inferencers.gen import GenInferencer, checked_limit
from inference.turns import summed_reasoning
from leaderflow.core import sandbox
from leaderflow.core.errors import SpecError, did_you_mean
from leaderflow.core.identity import canonical_json, prompt_json, sha256_hex
from leaderflow.core.types import Answer, Backend, Capability, Json, Prompt, Request, Settings

SHOWN = 4000
"""Characters of a tool's result that the model gets to see."""

_CALLED = frozenset({"tool_calls", "function_call"})


def run_python(code: str = "") -> str:
    """Return what a program prints, its error last."""
    outcome = sandbox.run(sandbox.Program(str(code)), sandbox.Limits(seconds=10, wall=20))
    said = "\n".join(part for part in (outcome.stdout.strip(), outcome.stderr.strip()[-SHOWN // 2 :], outcome.message) if part)
    return said[:SHOWN] or "(nothing was printed)"


def _schema(name: str, description: str, **parameters: str) -> dict[str, Json]:
    properties = {key: {"type": "string", "description": text} for key, text in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


TOOLS: Mapping[str, tuple[dict[str, Json], Callable[..., str]]] = {
    "python": (
        _schema(
            "python",
            "Runs a Python program in a sandbox without network; nothing is kept for the next call.",
            code="the program; print what you need",
        ),
        run_python,
    ),
}
"""Name → what the model is told, and what is run."""


class AgentInferencer(GenInferencer):
    """Lets the model call tools until it answers without a call. The last reply is the output.

    The whole transcript (calls, results, what the model said between them) is kept as JSON in the column `reasoning`: it is counted
    and shown, and never scored. Each turn is stored, so a killed run goes on at the turn where it was. Tools reach the model as
    OpenAI's `tools`, so it must be one behind a chat API that takes them.

    Args:
        tools: what it may call; there is ``python``.
        max_turns: replies of the model, the answer included; a model that still calls tools then has no answer (``truncated``).
        max_out_len: at most this many tokens for each turn.
        stopping_criteria: as for `GenInferencer`.
        temperature: as for `GenInferencer`.
        seed: as for `GenInferencer`.
        generation_kwargs: as for `GenInferencer`.
        repeats: how often each input is asked.

    Raises:
        SpecError: an unknown tool, a limit below 1.
    """

    needs: Capability = "tools"

    def __init__(
        self,
        tools: Sequence[str] = ("python",),
        max_turns: int = 10,
        max_out_len: int | None = None,
        stopping_criteria: Sequence[str] | str = (),
        temperature: float | None = None,
        seed: int | None = None,
        generation_kwargs: Mapping[str, Json] | None = None,
        repeats: int = 1,
    ) -> None:
        super().__init__(
            max_out_len=max_out_len,
            stopping_criteria=stopping_criteria,
            temperature=temperature,
            seed=seed,
            generation_kwargs=generation_kwargs,
            repeats=repeats,
        )
        if unknown := next((name for name in tools if name not in TOOLS), None):
            raise SpecError(f"unknown tool {unknown!r}{did_you_mean(unknown, TOOLS)}", key="inferencer.tools")
        self._tools, self._turns = tuple(tools), checked_limit(max_turns, "max_turns")
        self.kind = f"agent {self._turns}"
        self.needs_sandbox = frozenset({"python"} & set(tools))

    def settings(self, defaults: Settings) -> Settings:
        """Return the settings of a turn: the tools are part of the request."""
        own = super().settings(defaults)
        return replace(own, extra={**own.extra, "tools": [TOOLS[name][0] for name in self._tools]})

    def ask(self, requests: Sequence[Request], backend: Backend, stored: Stored, keep: Keep) -> Iterator[Answer]:
        """Yield an answer a request; all agents advance together, turn by turn, so that their requests share the window."""
        waiting = [Agent(request, self._turns) for request in requests]
        while waiting:
            asked = {(turn := agent.next_turn()).request_key: (turn, agent) for agent in waiting}
            known = stored(list(asked))
            missing = [turn for key, (turn, _) in asked.items() if key not in known]
            waiting = []
            for reply in _replies(known, missing, backend, keep):
                agent = asked[reply.request_key][1]
                if (answer := agent.take(reply)) is not None:
                    yield answer
                else:
                    waiting.append(agent)


class Agent:
    """One question on its way to an answer.

    Args:
        request: the question.
        turns: replies that the model may give.
    """

    def __init__(self, request: Request, turns: int) -> None:
        self.request, self._left = request, turns
        first = request.prompt.messages or ({"role": "user", "content": request.prompt.text or ""},)
        self._messages: list[Any] = list(first)
        self._given = len(first)
        self._replies: list[Answer] = []

    def next_turn(self) -> Request:
        """Return the request for the next turn: everything said so far."""
        prompt = Prompt(messages=tuple(self._messages))
        key = sha256_hex(canonical_json([self.request.request_key, prompt_json(prompt)]))
        return replace(self.request, request_key=key, prompt=prompt)

    def take(self, reply: Answer) -> Answer | None:
        """Take in a reply: run the tools it calls, or return the whole answer."""
        self._replies.append(reply)
        self._left -= 1
        calls = calls_of(reply)
        if calls is None:
            return self._answer(reply)
        numbered = [(f"call_{len(self._replies)}_{place}", call) for place, call in enumerate(calls)]
        self._messages.append({"role": "assistant", "content": "", "tool_calls": [_as_call(name, call) for name, call in numbered]})
        if not self._left:
            out = f"still calling tools after {len(self._replies)} turns (max_turns)"
            return self._answer(replace(reply, status="truncated", output="", error=out))
        for name, call in numbered:
            self._messages.append({"role": "tool", "tool_call_id": name, "content": result_of(call)})
        return None

    def _answer(self, last: Answer) -> Answer:
        transcript = self._messages[self._given :]
        return replace(
            last,
            request_key=self.request.request_key,
            reasoning=json.dumps(transcript, ensure_ascii=False) if transcript else last.reasoning,
            prompt_tokens=sum(reply.prompt_tokens or 0 for reply in self._replies),
            output_tokens=sum(reply.output_tokens or 0 for reply in self._replies),
            **summed_reasoning(self._replies),
            latency_s=sum(reply.latency_s or 0.0 for reply in self._replies),
            attempts=sum(reply.attempts for reply in self._replies),
        )


def calls_of(reply: Answer) -> list[Mapping[str, Json]] | None:
    """Return the tool calls of a reply (the API backend gives them as JSON text), None if it calls none."""
    if reply.status not in ("ok", "truncated") or reply.finish_reason not in _CALLED:
        return None
    try:
        calls = json.loads(reply.output or "")["tool_calls"]
    except (ValueError, KeyError, TypeError):
        return None
    return calls if isinstance(calls, list) and calls else None


def result_of(call: Mapping[str, Json]) -> str:
    """Run a tool; a call that cannot be is answered with what is wrong about it, for the model to correct."""
    name = str(call.get("name"))
    if name not in TOOLS:
        return f"there is no tool {name!r}; there is: {', '.join(TOOLS)}"
    try:
        arguments = json.loads(call.get("arguments") or "{}")
    except (TypeError, ValueError) as exc:
        return f"the arguments are no JSON: {exc}"
    if not isinstance(arguments, dict) or set(arguments) - {"code"}:
        return 'the arguments must be {"code": "…"}'
    return TOOLS[name][1](**arguments)


def _as_call(name: str, call: Mapping[str, Json]) -> dict[str, Json]:
    return {"id": name, "type": "function", "function": {"name": call.get("name"), "arguments": call.get("arguments") or "{}"}}


def _replies(known: Mapping[str, Answer], missing: Sequence[Request], backend: Backend, keep: Keep) -> Iterator[Answer]:
    yield from known.values()
    for reply in backend.generate(missing) if missing else ():
        keep(reply)
        yield reply
