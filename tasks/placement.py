"""How a model's workers are laid out over the nodes of a cluster: what one takes, how many fit, which part of an API each has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leaderflow.core.errors import SpecError
from leaderflow.core.specs import ModelSpec
from tasks.session import own_part

Node = Mapping[str, float]
"""A node's resources in Ray's words: ``{"CPU": 8.0, "GPU": 2.0}``."""

PARALLEL = ("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size", "replicas")
"""Arguments of vLLM's model types whose product is the number of its GPUs."""


@dataclass
class Place:
    """Where a model's workers go."""

    part: ModelSpec
    """The model as one worker asks it."""
    needs: Mapping[str, float]
    most: int


def placed(model: ModelSpec, nodes: Sequence[Node]) -> Place:
    """Return where a model's workers go.

    Raises:
        SpecError: no node has what one of them takes.
    """
    need = needs(model, nodes)
    workers = most(model, need, nodes)
    return Place(part_of(model, workers), need, workers)


def needs(model: ModelSpec, nodes: Sequence[Node]) -> dict[str, float]:
    """Return what one worker of a model takes of a node, as Ray's options."""
    gpus = model.run_cfg.num_gpus
    if gpus is None:
        here = model.openai_api_base is None and any(node.get("GPU") for node in nodes)
        gpus = gpus_of(model) if here else 0
    return {"num_cpus": 1, "num_gpus": gpus}


def gpus_of(model: ModelSpec) -> int:
    """Return how many GPUs a model's engine uses by its own arguments: one, or the product of vLLM's parallel sizes."""
    product = 1
    for name in PARALLEL:
        size = model.arguments.get(name, 1)
        product *= size if isinstance(size, int) else 1
    return product


def most(model: ModelSpec, need: Mapping[str, float], nodes: Sequence[Node]) -> int:
    """Return how many workers of a model fit on the nodes, as far as its run_cfg and its rates allow.

    Raises:
        SpecError: none does.
    """
    gpus = need["num_gpus"]
    fits = [int(min(node.get("CPU", 0), node.get("GPU", 0) / gpus if gpus else node.get("CPU", 0))) for node in nodes]
    if not sum(fits):
        what = f"{gpus:g} GPUs and a CPU" if gpus else "a CPU"
        raise SpecError(f"no node of the Ray cluster has {what}", key=f"models.{model.abbr}.run_cfg")
    usual = sum(fits) if gpus else sum(1 for n in fits if n)
    limits = [model.batch_size, model.rpm, model.tpm] if model.openai_api_base else []
    return min([sum(fits), model.run_cfg.replicas or usual, *(limit for limit in limits if limit)])


def part_of(model: ModelSpec, workers: int) -> ModelSpec:
    """Return the model as one of its workers asks it: with its part of an API's window and rates, or an engine of its own."""
    model = own_part(model)
    if model.openai_api_base is None or workers == 1:
        return model
    names = ("batch_size", "rpm", "tpm")
    return model.model_copy(update={name: max(1, limit // workers) for name in names if (limit := getattr(model, name))})
