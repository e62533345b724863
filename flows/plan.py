"""``--dry-run``: what a run would do. Reads, retrieves and renders in memory; asks nothing and writes nothing."""

from __future__ import annotations

from collections import Counter

from flows.progress import Progress
from flows.result import Plan, PlannedCell
from flows.work import Work, cuts, needs_pool, plan_cells, shard_size
from inference.api.limits import UNKNOWN_OUTPUT, prompt_tokens
from inference.stage import defaults
from leaderflow.core.prices import prices_of
from leaderflow.core.specs import EvaluationSpec
from leaderflow.core.store import Store
from tasks.read import ReadStep
from tasks.retrieve import choose, helpers
from tasks.session import Session
from templating import stage as templating


def make_plan(spec: EvaluationSpec, store: Store, progress: Progress) -> Plan:
    """Return the plan of a run.

    Raises:
        UsageError: spec or data are wrong.
        BackendError: a model cannot be opened.
    """
    session = Session(spec, store)
    try:
        cells = [_plan_cell(session, cell) for cell in plan_cells(session)]
    finally:
        session.close()
        progress.finish()
    requests, answered = sum(c.requests for c in cells), sum(c.answered for c in cells)
    return Plan(cells=cells, shards=sum(c.shards for c in cells), requests=requests, answered=answered, to_ask=requests - answered)


def _plan_cell(session: Session, cell: Work) -> PlannedCell:
    tables = ReadStep(session, cell.dataset, pool=needs_pool(cell.dataset)).compute()
    samples, pool = tables["samples"], tables["pool"]
    examples = choose(samples, pool, cell.dataset, helpers(session, cell.dataset, cell.model))
    chosen = getattr(cell.inferencer, "labels", None)
    labels = templating.labels(cell.dataset, samples, chosen) if cell.inferencer.choice is not None else None
    prompts = templating.render(samples, pool, examples, cell.dataset, cell.target, labels=labels)
    backend = session.backend(cell.model)
    requests = cell.inferencer.requests(prompts, backend.identity, defaults(cell.model, cell.dataset.infer_cfg.inferencer))
    keys = Counter(request.request_key for request in requests)
    known = {} if session.spec.fresh else session.answers(cell.model).get(keys)
    missing = {request.request_key: request for request in requests if request.request_key not in known}.values()
    scored = cell.inferencer.needs == "loglikelihood"
    prompt = sum(map(prompt_tokens, missing))
    output = 0 if scored else sum(request.settings.max_out_len or UNKNOWN_OUTPUT for request in missing)
    size = shard_size(session.spec, {cell.dataset.abbr: samples.num_rows})
    return PlannedCell(
        model=cell.model.abbr,
        dataset=cell.dataset.abbr,
        samples=samples.num_rows,
        shards=len(list(cuts(samples.num_rows, size))),
        requests=len(keys),
        answered=len(known),
        rejected=prompts.num_rows * cell.dataset.n - len(requests),
        prompt_tokens=prompt,
        output_tokens=output,
        cost=prices_of([cell.model]).cost(cell.model.abbr, prompt, output),
    )
