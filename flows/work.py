"""What a run has to do: its cells, checked before anything is read, and how they are cut into shards."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evaluators import stage as evaluators
from evaluators.judges.rivals import EVERY_OTHER
from evaluators.judges.stage import without_judges
from inference import stage as inference
from leaderflow.core import recipes, registry, sandbox
from leaderflow.core.errors import SpecError, UsageError, did_you_mean
from leaderflow.core.judges import from_environment, judges_of, with_environment
from leaderflow.core.specs import DatasetSpec, EvaluationSpec, ModelSpec, cell_name
from leaderflow.core.types import Capability, Inferencer, Json
from leaderflow.core.validate import EVALUATOR_OWN
from tasks.judge import judge_dataset
from tasks.retrieve import helpers
from tasks.session import Session
from templating import stage as templating
from templating.stage import Target

MAX_TASK_RUNS = 1_000
"""Above some thousand quick task runs the Prefect server drops events."""

ROOM = 0.7 * MAX_TASK_RUNS
"""What the plan may count on: reads are on top, and a shard that repeats inputs of earlier ones is rendered twice."""

SHARD_STEPS = 3
"""render, infer, postprocess."""

CELL_STEPS = 2
"""retrieve, score."""

HINT = " (type: Imported stands for a model whose answers were imported)"

READS = 100
"""Task runs for reading, at most; with more datasets, several share one."""


@dataclass(frozen=True)
class Work:
    """One cell to do."""

    model: ModelSpec
    dataset: DatasetSpec
    inferencer: Inferencer
    target: Target
    judges: tuple[Work, ...] = ()
    """What the judges of its answers are asked, one cell a judge."""
    judged: str | None = None
    """The cell whose answers this one judges."""
    rivals: tuple[str, ...] = ()
    """The models whose answers its judges compare with."""
    arena: tuple[ModelSpec, ...] = ()
    """All models that cells of its dataset are compared with."""

    @property
    def local(self) -> bool:
        """Whether the model is loaded here: one at a time."""
        return self.model.openai_api_base is None

    @property
    def cell(self) -> str:
        """The cell's name."""
        return cell_name(self.model.abbr, self.dataset.abbr)

    @property
    def label(self) -> str:
        """The cell as the UI shows it."""
        return f"{self.dataset.abbr} · {self.model.abbr}"


def plan_cells(session: Session) -> list[Work]:
    """Return the cells of a run, everything refused that can be refused without reading data.

    Raises:
        SpecError: an unknown type or argument, a template that cannot work, a model that cannot be asked so.
        BackendError: a model cannot be opened.
    """
    spec = session.spec
    for index, dataset in enumerate(spec.datasets):
        check_dataset(dataset, f"datasets[{index}] ({dataset.abbr})")
        check_sandbox(dataset, allow_unsafe_code=spec.allow_unsafe_code)
    for model in spec.models:
        inference.check_model(model)
        if model.pred_postprocessor is not None:
            registry.bind("postprocessor", model.pred_postprocessor, key=f"models.{model.abbr}.pred_postprocessor")
    cells = [plan_cell(session, model, dataset) for model in spec.models for dataset in spec.datasets]
    return [replace(plan_rivals(spec, cell), judges=plan_judges(session, cell)) for cell in cells]


def plan_rivals(spec: EvaluationSpec, cell: Work) -> Work:
    """Return a cell with the models that it is compared with: never itself.

    Raises:
        SpecError: a model that the run does not have, or nobody to compare with.
    """
    judging = evaluators.build_evaluator(cell.dataset).judging
    if judging is None or not judging.rivals:
        return cell
    key, models = f"{cell.dataset.abbr}.eval_cfg.evaluator", {model.abbr: model for model in spec.models}
    named = list(models) if EVERY_OTHER in judging.rivals else list(dict.fromkeys(judging.rivals))
    if missing := next((name for name in named if name not in models), None):
        raise SpecError(f"compares with {missing!r}, which is no model of this run{HINT}{did_you_mean(missing, models)}", key=key)
    if len({*models, *named}) == 1:
        raise SpecError("compares models of this run with each other; name another one", key=key)
    rivals = tuple(name for name in named if name != cell.model.abbr)
    return replace(cell, rivals=rivals, arena=tuple(models[name] for name in named))


def check_dataset(dataset: DatasetSpec, key: str) -> None:
    """Check every `type` of a dataset's configuration and its arguments."""
    registry.resolve("dataset", dataset.type, key=f"{key}.type")
    infer, scoring = dataset.infer_cfg, dataset.eval_cfg
    registry.check("inferencer", infer.inferencer, key=f"{key}.infer_cfg.inferencer", handed=frozenset({"repeats"}))
    evaluator = {name: value for name, value in scoring.evaluator.items() if name not in EVALUATOR_OWN}
    registry.check("evaluator", evaluator, key=f"{key}.eval_cfg.evaluator")
    named = {"pred_postprocessor": scoring.pred_postprocessor, "dataset_postprocessor": scoring.dataset_postprocessor}
    named |= {f"evaluator.{name}": scoring.evaluator.get(name) for name in EVALUATOR_OWN}
    for name, config in {**named, **{f"extractors.{k}": v for k, v in scoring.extractors.items()}}.items():
        if config is not None:
            registry.bind("postprocessor", config, key=f"{key}.eval_cfg.{name}")


def check_sandbox(dataset: DatasetSpec, *, allow_unsafe_code: bool) -> None:
    """See that the programs which scoring executes can be executed here.

    Raises:
        SpecError: there is no sandbox, or no compiler for the language.
    """
    agent = registry.build("inferencer", dataset.infer_cfg.inferencer, repeats=dataset.n)
    users = {"eval_cfg.evaluator": evaluators.build_evaluator(dataset), "infer_cfg.inferencer": agent}
    for key, user in users.items():
        if languages := getattr(user, "needs_sandbox", None):
            try:
                with sandbox.unsafe_code(allow_unsafe_code):
                    sandbox.require(languages)
            except UsageError as error:
                raise SpecError(str(error), key=f"{dataset.abbr}.{key}") from error


def plan_cell(session: Session, model: ModelSpec, dataset: DatasetSpec) -> Work:
    """Return one cell, refused where the model cannot be asked so."""
    inferencer = registry.build("inferencer", dataset.infer_cfg.inferencer, repeats=dataset.n)
    backend = session.backend(model)
    if inferencer.needs not in backend.capabilities:
        can = ", ".join(sorted(backend.capabilities))
        raise SpecError(
            f"{dataset.infer_cfg.inferencer['type']} needs {inferencer.needs}, which {model.type} cannot do (it can: {can}); "
            f"choose {other_recipe(dataset, backend.capabilities)} or a model with {inferencer.needs}",
            key=f"{model.abbr}:{dataset.abbr}",
        )
    target = Target(
        accepts=backend.capabilities & {"messages", "text"},
        mode=inferencer.mode,
        meta_template=model.meta_template,
        max_seq_len=model.max_seq_len,
        max_out_len=max_out_len(session, model, dataset),
        counter=getattr(backend, "counter", None),
        chat_template=model.type.endswith("withChatTemplate"),
    )
    templating.check(dataset, target, key=f"{model.abbr}:{dataset.abbr}")
    helpers(session, dataset, model)
    return Work(model, dataset, inferencer, target)


def other_recipe(dataset: DatasetSpec, can: Collection[Capability]) -> str:
    """Return the recipe beside a dataset's that asks for nothing but what a model can do; its name, where there is one."""
    for name in recipes.siblings(dataset.source) if dataset.source else ():
        inferencer = (recipes.read("datasets", name).block.value.get("infer_cfg") or {}).get("inferencer")
        if inferencer and registry.build("inferencer", inferencer, repeats=1).needs in can:
            return f"the recipe {name}"
    return "a generative recipe of this dataset"


def plan_judges(session: Session, cell: Work) -> tuple[Work, ...]:
    """Return what each judge of a cell is asked, as cells of their own; refused where a judge cannot be asked so.

    Raises:
        SpecError: no judge, an unknown one, or one that cannot generate.
    """
    judging = evaluators.build_evaluator(cell.dataset).judging
    if judging is None:
        return ()
    key = f"{cell.dataset.abbr}.eval_cfg.evaluator.judge"
    dataset, judges = judge_dataset(cell.dataset, judging, cell.model.abbr), judges_of(judging, session.spec, key=key)
    if judging.compat == "opencompass" and not judging.rivals and len(judges) > 1:
        name = cell.dataset.eval_cfg.evaluator["type"]
        raise SpecError(f"{name} sums up one judge's replies; {len(judges)} are named, name one of them", key=key)
    found = []
    for judge in judges:
        inference.check_model(judge)
        found.append(replace(plan_cell(session, judge, dataset), judged=cell.cell))
    return tuple(found)


def with_judges(spec: EvaluationSpec) -> EvaluationSpec:
    """Return the spec with the judge that the environment names written into it, where one is needed."""
    if spec.judges or from_environment() is None:
        return spec
    judgings = [evaluators.build_evaluator(dataset).judging for dataset in spec.datasets]
    return with_environment(spec, [judging for judging in judgings if judging])


def asked_models(spec: EvaluationSpec) -> list[ModelSpec]:
    """Return every model that a run asks: those under test and their judges, one of each name.

    Raises:
        SpecError: an evaluator that cannot be built, or without a judge.
    """
    found = {model.abbr: model for model in spec.models}
    for dataset in spec.datasets:
        if judging := evaluators.build_evaluator(dataset).judging:
            for judge in judges_of(judging, spec, key=f"{dataset.abbr}.eval_cfg.evaluator.judge"):
                found.setdefault(judge.abbr, judge)
    return list(found.values())


def max_out_len(session: Session, model: ModelSpec, dataset: DatasetSpec) -> int | None:
    """Return the cell's token limit, refused where it leaves no room for a prompt in the block's context or in the weights' own."""
    limit = inference.defaults(model, dataset.infer_cfg.inferencer).max_out_len
    context = getattr(session.backend(model), "max_seq_len", None)
    if limit is not None and context is not None and limit >= context:
        limits = f"max_out_len {limit} leaves no room for a prompt in the model's context of {context} tokens"
        lower = f"--set infer_cfg.inferencer.max_out_len={context // 2}"
        raise SpecError(f"{limits}; lower it, such as {lower}", key=f"{model.abbr}:{dataset.abbr}")
    return limit


def needs_pool(dataset: DatasetSpec) -> bool:
    """Say whether examples are drawn from the train split."""
    return dataset.infer_cfg.retriever.get("type") != "ZeroRetriever"


def shard_size(spec: EvaluationSpec, samples: Mapping[str, int]) -> int:
    """Return how many samples go into a shard: what the spec says, or more where that would give too many task runs."""
    size, largest = spec.shard_size, max(samples.values())
    while size < largest and _shards(spec, samples, size) * SHARD_STEPS > ROOM:
        size *= 2
    return size


def _shards(spec: EvaluationSpec, samples: Mapping[str, int], size: int) -> int:
    return sum(-(-n // size) for n in samples.values()) * len(spec.models)


def task_runs(spec: EvaluationSpec, samples: Mapping[str, int], size: int) -> int:
    """Return how many task runs a run would have if every step were one: reads, shards, and a cell's retrieve and score."""
    return len(samples) + _shards(spec, samples, size) * SHARD_STEPS + CELL_STEPS * len(samples) * len(spec.models)


def bundles(cells: Sequence[Work], task_runs: int) -> list[list[Work]]:
    """Return which small cells share their task runs, so that a run of `task_runs` steps stays under the limit.

    Args:
        cells: those of one shard.
        task_runs: of the whole run, one a step.

    Returns:
        Lists of cells of one model and family, as short as the limit allows; empty where nothing needs to be shared.
    """
    families: dict[tuple[str, str | None], list[Work]] = {}
    for cell in cells:
        families.setdefault((cell.model.abbr, cell.dataset.group), []).append(cell)
    steps, size, found = SHARD_STEPS + CELL_STEPS, 1, [[cell] for cell in cells]
    while task_runs - steps * (len(cells) - len(found)) > ROOM and size < len(cells):
        size *= 2
        found = [family[at : at + size] for family in families.values() for at in range(0, len(family), size)]
    return found if size > 1 else []


def cuts(rows: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield (start, length) of each shard."""
    return ((start, min(size, rows - start)) for start in range(0, rows, size))


def protocol(cell: Work) -> dict[str, Json]:
    """Return how a cell's dataset is used: the part of a version beside the samples.

    Files count by content only; a field left at its default counts as absent, so that a new field makes no old run incomparable.
    Another judge is another protocol; neither credentials nor where it is reached count.
    """
    dataset = cell.dataset
    source = {"type", "name", "revision", "columns", "arguments", "compat"} | ({"path"} if dataset.type == "HFDataset" else set())
    dump: dict[str, Any] = {"mode": "json", "exclude_defaults": True}
    scoring = dataset.eval_cfg.model_dump(**dump, exclude={"extractors"})
    judges, rivals = ([_said(model) for model in models] for models in ((judge.model for judge in cell.judges), cell.arena))
    return {
        "source": dataset.model_dump(**dump, include=source),
        "reader_cfg": dataset.reader_cfg.model_dump(**dump, exclude={"train_range", "test_range", "seed"}),
        "infer_cfg": dataset.infer_cfg.model_dump(**dump),
        "eval_cfg": scoring | {"evaluator": without_judges(scoring["evaluator"])},
        "repeats": [dataset.n, dataset.k],
        **({"judges": judges} if judges else {}),
        **({"rivals": rivals} if rivals else {}),
    }


def _said(model: ModelSpec) -> dict[str, Json]:
    """Return what of a model changes its answers, wherever it is reached."""
    fields = {"type", "path", "revision", "generation_kwargs", "max_out_len", "meta_template", "arguments"}
    block = model.model_dump(mode="json", exclude_defaults=True, include=fields)
    return block | {"path": Path(block["path"]).name} if Path(block["path"]).is_absolute() else block
