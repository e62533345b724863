"""vLLM's offline engine, for one parent process: a JSON message a line in, a JSON message a line out.

``python offline_engine.py ARGUMENTS`` runs in vLLM's own Python, with nothing of leaderflow imported; ARGUMENTS is JSON:
``engine`` holds the arguments of ``vllm.LLM``, ``lora`` the folder of an adapter or null. It says ``{"ready": VERSION}`` once the
weights are loaded. Then it takes ``{"id": 7, "body": …}``, a body of the completions route whose prompt is token ids, and says
``{"id": 7, "reply": …}``, as that route would, or ``{"id": 7, "refused": "why"}``; ``{"cancel": 7}`` gives one up. Whatever has
arrived joins the running batch before the engine's next step. The end of the input is the end of the process.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

Say = Callable[[Mapping[str, Any]], None]

LEAST = -9999.0
"""What the server's route gives for the logarithm of nothing."""


def main(arguments: Mapping[str, Any]) -> None:
    """Load the model, then answer until the input ends."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever vLLM and its processes print goes to the log
    sys.path.pop(0)  # this folder, whose modules are leaderflow's
    import vllm

    def say(message: Mapping[str, Any]) -> None:
        print(json.dumps(message), file=out, flush=True)

    model = vllm.LLM(**arguments["engine"])
    say({"ready": vllm.__version__})
    inbox: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(inbox,), daemon=True).start()
    serve(model.llm_engine, _adapter(arguments["lora"]), inbox, say)


def serve(engine: Any, lora: Any, inbox: queue.SimpleQueue[str], say: Say) -> None:
    """Run the engine over what comes, until an empty line."""
    while True:
        while not (inbox.empty() and engine.has_unfinished_requests()):
            line = inbox.get()
            if not line:
                return
            _take(engine, lora, json.loads(line), say)
        for output in engine.step():
            if output.finished:
                say({"id": int(output.request_id), "reply": _reply(output)})


def _read(inbox: queue.SimpleQueue[str]) -> None:
    for line in sys.stdin:
        inbox.put(line)
    inbox.put("")


def _adapter(folder: str | None) -> Any:
    if folder is None:
        return None
    from vllm.lora.request import LoRARequest

    return LoRARequest("adapter", 1, folder)


def _take(engine: Any, lora: Any, message: Mapping[str, Any], say: Say) -> None:
    if "cancel" in message:
        engine.abort_request([str(message["cancel"])])
        return
    try:
        prompt, params = _asked(message["body"])
        engine.add_request(str(message["id"]), prompt, params, lora_request=lora)
    except (ValueError, TypeError) as error:  # one request that vLLM does not take is no reason to end
        say({"id": message["id"], "refused": f"{error}"})


def _asked(body: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return vLLM's prompt and sampling parameters."""
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind

    named = {name: value for name, value in body.items() if name not in ("model", "prompt")}
    if "logit_bias" in named:  # JSON has no numbers as keys
        named["logit_bias"] = {int(token): bias for token, bias in named["logit_bias"].items()}
    if "structured_outputs" in named:
        from vllm.sampling_params import StructuredOutputsParams

        named["structured_outputs"] = StructuredOutputsParams(**named["structured_outputs"])
    return {"prompt_token_ids": body["prompt"]}, SamplingParams(**named, output_kind=RequestOutputKind.FINAL_ONLY)


def _reply(output: Any) -> dict[str, Any]:
    """Return a finished request in the completions route's form."""
    text = output.outputs[0]
    choice = {"index": 0, "text": text.text, "finish_reason": text.finish_reason, "token_ids": [*text.token_ids]}
    if output.prompt_logprobs is not None:
        choice["prompt_logprobs"] = [entry and _entry(entry) for entry in output.prompt_logprobs]
    usage = {"prompt_tokens": len(output.prompt_token_ids), "completion_tokens": len(text.token_ids)}
    return {"choices": [choice], "usage": usage}


def _entry(entry: Mapping[int, Any]) -> dict[str, Any]:
    """Return the log-probabilities of one token of a prompt, by ids."""
    return {
        str(token): {"logprob": max(found.logprob, LEAST), "decoded_token": found.decoded_token} for token, found in entry.items()
    }


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
