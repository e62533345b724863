"""``--dry-run``: what a run would do. Reads, retrieves and renders in memory; asks nothing and writes nothing."""

from __future__ import annotations

import pyarrow as pa

from evaluators.judges import stage as judging
from flows.judge import most_questions, render_questions
from flows.progress import Progress
from flows.result import Plan, PlannedCell
from flows.shards import labels_of
from flows.work import Work, cuts, needs_pool, plan_cells, shard_size, with_judges
from inference import stage as inference
from inference.api.limits import UNKNOWN_OUTPUT, prompt_tokens
from leaderflow.core.prices import prices_of
from leaderflow.core.specs import EvaluationSpec
from leaderflow.core.store import Store
from leaderflow.core.types import Request
from tasks.postprocess import extract
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
    session = Session(with_judges(spec), store)
    try:
        cells = [_plan_cell(session, cell) for cell in plan_cells(session)]
    finally:
        session.close()
        progress.finish()
    requests = sum(c.requests + (c.judge_requests or 0) for c in cells)
    answered = sum(c.answered + (c.judge_answered or 0) for c in cells)
    return Plan(
        cells=cells,
        shards=sum(c.shards for c in cells),
        requests=requests,
        answered=answered,
        to_ask=requests - answered,
        judges_open=sum(c.judge_at_most for c in cells if c.judge_requests is None),
    )


def render_all(session: Session, cell: Work) -> tuple[pa.Table, pa.Table]:
    """Return the samples of a cell and its rendered prompts, as a run has them."""
    tables = ReadStep(session, cell.dataset, pool=needs_pool(cell.dataset)).compute()
    samples, pool = tables["samples"], tables["pool"]
    examples = choose(samples, pool, cell.dataset, helpers(session, cell.dataset, cell.model))
    return samples, templating.render(
        samples, pool, examples, cell.dataset, cell.target, labels=labels_of(cell.dataset, cell.inferencer, samples)
    )


def _plan_cell(session: Session, cell: Work) -> PlannedCell:
    samples, prompts = render_all(session, cell)
    asked = requests_of(session, cell, prompts)
    keys = {request.request_key for request in asked}
    known = {} if session.spec.fresh else session.answers(cell.model).get(keys)
    missing = {request.request_key: request for request in asked if request.request_key not in known}.values()
    scored = cell.inferencer.needs == "loglikelihood"
    prompt = sum(map(prompt_tokens, missing))
    output = 0 if scored else sum(request.settings.max_out_len or UNKNOWN_OUTPUT for request in missing)
    size = shard_size(session.spec, {cell.dataset.abbr: samples.num_rows})
    planned = PlannedCell(
        model=cell.model.abbr,
        dataset=cell.dataset.abbr,
        samples=samples.num_rows,
        shards=len(list(cuts(samples.num_rows, size))),
        requests=len(keys),
        answered=len(known),
        rejected=prompts.num_rows * cell.inferencer.repeats - len(asked),
        prompt_tokens=prompt,
        output_tokens=output,
        cost=prices_of([cell.model]).cost(cell.model.abbr, prompt, output),
    )
    return with_judge(session, cell, samples, prompts, planned) if cell.judges else planned


def with_judge(session: Session, cell: Work, samples: pa.Table, prompts: pa.Table, planned: PlannedCell) -> PlannedCell:
    """Return a planned cell with what its judges will be asked; without all answers the questions are not known yet."""
    most = most_questions(cell.dataset, samples) * sum(judge.dataset.n for judge in cell.judges)
    if planned.answered < planned.requests:
        return planned.model_copy(update={"judge_requests": None, "judge_answered": None, "judge_at_most": most})
    settings = inference.defaults(cell.model, cell.dataset.infer_cfg.inferencer)
    store = session.answers(cell.model)
    outputs = inference.infer(prompts, cell.inferencer, session.backend(cell.model), store, settings)  # stored: nothing is asked
    extracted = extract(cell.dataset, cell.model, cell.inferencer.choice, outputs, samples)
    rows = judging.as_samples(judging.questions(extracted, samples, outputs, cell.dataset))
    found = planned.model_copy(update={"judge_at_most": most})
    for judge in cell.judges if rows.num_rows else ():
        asked = {r.request_key: r for r in requests_of(session, judge, render_questions(judge.dataset, judge.target, rows))}
        known = {} if session.spec.fresh else session.answers(judge.model).get(set(asked))
        missing = [request for key, request in asked.items() if key not in known]
        prompt, output = sum(map(prompt_tokens, missing)), sum(r.settings.max_out_len or UNKNOWN_OUTPUT for r in missing)
        cost = prices_of([judge.model]).cost(judge.model.abbr, prompt, output)
        found = found.model_copy(
            update={
                "judge_requests": (found.judge_requests or 0) + len(asked),
                "judge_answered": (found.judge_answered or 0) + len(known),
                "prompt_tokens": found.prompt_tokens + prompt,
                "output_tokens": found.output_tokens + output,
                "cost": None if cost is None or found.cost is None else found.cost + cost,
            }
        )
    return found


def requests_of(session: Session, cell: Work, prompts: pa.Table) -> list[Request]:
    """Return the requests of a cell's prompts."""
    settings = inference.defaults(cell.model, cell.dataset.infer_cfg.inferencer)
    return cell.inferencer.requests(prompts, session.backend(cell.model).identity, settings)
