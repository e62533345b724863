"""One run of 200,000 samples (``LEADERFLOW_LARGE_ROWS``) on a local Prefect server: is every task run recorded, and does it answer?

Prints wall time, CPU seconds and memory of run and server, task runs submitted and recorded by state, and the server's answers to
one question a second. Ends with an error where a task run is lost, there are more than 1,000, or an answer is not 200.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
import urllib.request
from pathlib import Path

import psutil

from flows import server
from flows.result import RunResult
from flows.work import MAX_TASK_RUNS
from tests.deployments.test_large import ROWS, Watch, as_flow
from tests.fake_openai import FakeOpenAI
from tests.flows.support import dataset, model, spec, write_questions

STATES = ("COMPLETED", "FAILED", "CRASHED", "RUNNING", "PENDING", "SCHEDULED")
SETTLED_WITHIN = 300


def recorded(api: str, flow_run: str) -> dict[str, int]:
    """Count the task runs of a flow run by state."""
    counts = {}
    for state in STATES:
        query = {"flow_runs": {"id": {"any_": [flow_run]}}, "task_runs": {"state": {"type": {"any_": [state]}}}}
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{api}/task_runs/count", data=json.dumps(query).encode(), headers=headers)
        with urllib.request.urlopen(request) as answer:
            counts[state.lower()] = int(answer.read())
    return {state: n for state, n in counts.items() if n}


def settled(api: str, result: RunResult) -> tuple[dict[str, int], float]:
    """Wait until every submitted task run is recorded as ended; returns the counts, and how long that took."""
    assert result.ui is not None
    flow_run, began = result.ui.rpartition("/")[2], time.monotonic()
    while True:
        counts, waited = recorded(api, flow_run), time.monotonic() - began
        if counts == {"completed": sum(result.tasks.values())} or waited > SETTLED_WITHIN:
            return counts, waited
        time.sleep(1)


def used(*processes: psutil.Process) -> str:
    """Return CPU seconds and memory of processes."""
    cpu = sum(process.cpu_times().user + process.cpu_times().system for process in processes)
    return f"{cpu:.0f} s CPU, {sum(process.memory_info().rss for process in processes) / 2**20:.0f} MiB"


def main() -> None:
    """Measure and print."""
    model_server = FakeOpenAI(reply="The answer is {number}.")
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"LEADERFLOW_HOME": folder, "LEADERFLOW_STORE": f"{folder}/store"}
        try:
            _measure(model_server, server.start(), Path(folder))
        finally:
            server.stop()
            model_server.stop()


def _measure(model_server: FakeOpenAI, prefect: server.Server, folder: Path) -> None:
    file = write_questions(folder / "sums.jsonl", range(ROWS))
    began = time.monotonic()
    with Watch(prefect.api) as watch:
        result = as_flow(prefect.api, spec([model(model_server, batch_size=256)], [dataset(file)]))
        seconds = time.monotonic() - began
        counts, lag = settled(prefect.api, result)
    print(f"{ROWS:,} samples in {seconds:.0f} s, {result.requests['sent']:,} requests; the records were whole {lag:.0f} s later")
    print(f"task runs: {sum(result.tasks.values())} submitted, recorded {counts}")
    process = psutil.Process(prefect.pid)
    print(f"the server answered {dict(watch.answers)}; it used {used(process, *process.children(recursive=True))}")
    print(f"the run used {used(psutil.Process())}")
    assert counts == {"completed": sum(result.tasks.values())}
    assert sum(counts.values()) <= MAX_TASK_RUNS
    assert set(watch.answers) == {200}
    assert result.requests["sent"] == ROWS


if __name__ == "__main__":
    main()
