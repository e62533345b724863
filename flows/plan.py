"""``--dry-run``: what a run would do. Reads, retrieves and renders in memory; asks nothing and writes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from evaluators.judges import stage as judging
from flows.judge import render_questions
from flows.progress import Progress
from flows.result import Plan, PlannedCell
from flows.shards import labels_of
from flows.work import Work, asked_models, cuts, needs_pool, plan_cells, shard_size, with_judges
from inference import stage as inference
from inference.api.limits import UNKNOWN_OUTPUT, prompt_tokens
from leaderflow.core.prices import prices_of
from leaderflow.core.specs import EvaluationSpec, cell_name
from leaderflow.core.store import Store
from leaderflow.core.types import Request
from tasks.postprocess import extract
from tasks.read import ReadStep
from tasks.retrieve import choose, helpers
from tasks.session import Session
from templating import stage as templating


def make_plan(spec: EvaluationSpec, store: Store, progress: Progress, only: str | None = None) -> Plan:
    """Return the plan of a run.

    Args:
        spec: of the run.
        store: where answers may lie.
        progress: told when the work is over.
        only: the model whose cells are planned; all cells by default.

    Raises:
        UsageError: spec or data are wrong.
        BackendError: a model cannot be opened.
    """
    session = Session(with_judges(spec), store)
    try:
        works = plan_cells(session)
        looked_at = _Cells(session, {work.cell: work for work in works})
        cells = [_plan_cell(looked_at, work) for work in works if only in (None, work.model.abbr)]
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
        prices_as_of=prices_of(asked_models(session.spec)).as_of,
    )


def render_all(session: Session, cell: Work) -> tuple[pa.Table, pa.Table]:
    """Return the samples of a cell and its rendered prompts, as a run has them."""
    tables = ReadStep(session, cell.dataset, pool=needs_pool(cell.dataset)).compute()
    samples, pool = tables["samples"], tables["pool"]
    examples = choose(samples, pool, cell.dataset, helpers(session, cell.dataset, cell.model))
    return samples, templating.render(
        samples, pool, examples, cell.dataset, cell.target, labels=labels_of(cell.dataset, cell.inferencer, samples)
    )


class _Cells:
    """The cells of a plan. One with judges is rendered and read once, however many others it is compared with."""

    def __init__(self, session: Session, named: Mapping[str, Work]) -> None:
        self.session, self.named = session, named
        self._rendered: dict[str, tuple[pa.Table, pa.Table]] = {}
        self._stored: dict[str, tuple[pa.Table, pa.Table, pa.Table] | None] = {}

    def rendered(self, cell: Work) -> tuple[pa.Table, pa.Table]:
        """Return the samples of a cell and its rendered prompts."""
        if not cell.judges:
            return render_all(self.session, cell)
        if cell.cell not in self._rendered:
            self._rendered[cell.cell] = render_all(self.session, cell)
        return self._rendered[cell.cell]

    def stored(self, cell: Work) -> tuple[pa.Table, pa.Table, pa.Table] | None:
        """Return samples, outputs and extractions of a cell whose answers are all stored, else None; nothing is asked."""
        if cell.cell not in self._stored:
            self._stored[cell.cell] = self._read(cell)
        return self._stored[cell.cell]

    def _read(self, cell: Work) -> tuple[pa.Table, pa.Table, pa.Table] | None:
        samples, prompts = self.rendered(cell)
        store, keys = self.session.answers(cell.model), {r.request_key for r in requests_of(self.session, cell, prompts)}
        if self.session.spec.fresh or len(store.get(keys)) < len(keys):
            return None
        settings = inference.defaults(cell.model, cell.dataset.infer_cfg.inferencer)
        outputs = inference.infer(prompts, cell.inferencer, self.session.backend(cell.model), store, settings)
        return samples, outputs, extract(cell.dataset, cell.model, cell.inferencer.choice, outputs, samples)


@dataclass(frozen=True)
class Tokens:
    """What requests may take at most: tokens of prompts and of answers."""

    prompt: int = 0
    output: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(self.prompt + other.prompt, self.output + other.output)

    def __mul__(self, times: int) -> Tokens:
        return Tokens(self.prompt * times, self.output * times)


def tokens_of(requests: Iterable[Request], *, scored: bool = False) -> Tokens:
    """Return what some requests may take; `scored` ones have no answer."""
    found = Tokens()
    for request in requests:
        found += Tokens(prompt_tokens(request), 0 if scored else request.settings.max_out_len or UNKNOWN_OUTPUT)
    return found


def _plan_cell(cells: _Cells, cell: Work) -> PlannedCell:
    session = cells.session
    samples, prompts = cells.rendered(cell)
    asked = requests_of(session, cell, prompts)
    keys = {request.request_key for request in asked}
    known = {} if session.spec.fresh else session.answers(cell.model).get(keys)
    missing = {request.request_key: request for request in asked if request.request_key not in known}.values()
    needed = tokens_of(missing, scored=cell.inferencer.needs == "loglikelihood")
    size = shard_size(session.spec, {cell.dataset.abbr: samples.num_rows})
    planned = PlannedCell(
        model=cell.model.abbr,
        dataset=cell.dataset.abbr,
        samples=samples.num_rows,
        shards=len(list(cuts(samples.num_rows, size))),
        requests=len(keys),
        answered=len(known),
        rejected=prompts.num_rows * cell.inferencer.repeats - len(asked),
        prompt_tokens=needed.prompt,
        output_tokens=needed.output,
        cost=prices_of([cell.model]).cost(cell.model.abbr, needed.prompt, needed.output),
    )
    return with_judges_of(cells, cell, samples, planned) if cell.judges else planned


def with_judges_of(cells: _Cells, cell: Work, samples: pa.Table, planned: PlannedCell) -> PlannedCell:
    """Return a planned cell with what its judges will be asked: exactly if all answers are stored, else at most."""
    session = cells.session
    pretended = judging.as_samples(judging.pretended(samples, cell.dataset, cell.rivals))
    most = pretended.num_rows * cell.dataset.n * sum(judge.dataset.n for judge in cell.judges)
    planned = planned.model_copy(update={"judge_at_most": most})
    if (rows := _known_questions(cells, cell)) is None:
        shown = _longest_answer(session, cell) * (1 + bool(cell.rivals))
        for judge in cell.judges:
            one = tokens_of(_judge_requests(session, judge, pretended).values())
            asked = (one + Tokens(shown * pretended.num_rows * judge.dataset.n)) * cell.dataset.n
            planned = _with_tokens(planned, judge, asked)
        return planned.model_copy(update={"judge_requests": None, "judge_answered": None})
    for judge in cell.judges if rows.num_rows else ():
        requests = _judge_requests(session, judge, rows)
        known = {} if session.spec.fresh else session.answers(judge.model).get(set(requests))
        planned = _with_tokens(planned, judge, tokens_of(r for key, r in requests.items() if key not in known))
        counts = {
            "judge_requests": (planned.judge_requests or 0) + len(requests),
            "judge_answered": (planned.judge_answered or 0) + len(known),
        }
        planned = planned.model_copy(update=counts)
    return planned


def _known_questions(cells: _Cells, cell: Work) -> pa.Table | None:
    """Return the questions about a cell, None while an answer of its model or of one that it is compared with is missing."""
    rivals = [cells.named[cell_name(model, cell.dataset.abbr)] for model in cell.rivals]
    stored = [cells.stored(work) for work in (cell, *rivals)]
    found = [tables for tables in stored if tables is not None]
    if len(found) < len(stored):
        return None
    samples, outputs, extracted = found[0]
    said = {work.model.abbr: tables[2] for work, tables in zip(rivals, found[1:], strict=True)}
    return judging.as_samples(judging.questions(extracted, samples, outputs, cell.dataset, said))


def _judge_requests(session: Session, judge: Work, rows: pa.Table) -> dict[str, Request]:
    return {r.request_key: r for r in requests_of(session, judge, render_questions(judge.dataset, judge.target, rows))}


def _longest_answer(session: Session, cell: Work) -> int:
    return inference.defaults(cell.model, cell.dataset.infer_cfg.inferencer).max_out_len or UNKNOWN_OUTPUT


def _with_tokens(planned: PlannedCell, judge: Work, needed: Tokens) -> PlannedCell:
    """Return a planned cell with the tokens of one judge, and its cost."""
    cost = prices_of([judge.model]).cost(judge.model.abbr, needed.prompt, needed.output)
    return planned.model_copy(
        update={
            "judge_prompt_tokens": planned.judge_prompt_tokens + needed.prompt,
            "judge_output_tokens": planned.judge_output_tokens + needed.output,
            "cost": None if cost is None or planned.cost is None else planned.cost + cost,
        }
    )


def requests_of(session: Session, cell: Work, prompts: pa.Table) -> list[Request]:
    """Return the requests of a cell's prompts."""
    settings = inference.defaults(cell.model, cell.dataset.infer_cfg.inferencer)
    return cell.inferencer.requests(prompts, session.backend(cell.model).identity, settings)
