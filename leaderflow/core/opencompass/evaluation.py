"""A whole Python configuration as the blocks of an evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from leaderflow.core.opencompass import tables
from leaderflow.core.opencompass.datasets import dataset
from leaderflow.core.opencompass.models import model, plain_abbr
from leaderflow.core.opencompass.package import root
from leaderflow.core.opencompass.report import Report
from leaderflow.core.opencompass.subjective import check_rest, judge_models
from leaderflow.core.opencompass.translator import Translator, Where
from leaderflow.core.pyconfig import Config, load_config
from leaderflow.core.pyconfig.values import dotted
from leaderflow.core.specs import SummaryGroup
from leaderflow.core.types import Json
from leaderflow.core.yaml import Located, Place, Steps, kind_of, shown

_GROUP_FIELDS = frozenset(SummaryGroup.model_fields) - {"expected", "transforms"}


@dataclass(frozen=True)
class Translated:
    """The blocks of a configuration, and the report of what was done otherwise or has no counterpart."""

    config: Config
    models: list[Located]
    datasets: list[Located]
    judges: list[Located]
    summarizer: Json
    report: Report

    def document(self) -> Located:
        """Return the whole as one located document, as a YAML file would give it."""
        top: dict[str, Json] = {"summarizer": self.summarizer} if self.summarizer else {}
        places: dict[Steps, Place] = {(): Place(shown(self.config.path))}
        parts = {"models": self.models, "datasets": self.datasets, **({"judges": self.judges} if self.judges else {})}
        for kind, blocks in parts.items():
            top[kind] = [block.value for block in blocks]
            for position, block in enumerate(blocks):
                places.update({(kind, position, *steps): place for steps, place in block.places.items()})
        return Located(top, places)

    def part(self, kind: Literal["models", "datasets"]) -> list[Located]:
        """Return the models or the datasets.

        Raises:
            SpecError: the file defines none.
        """
        if not (blocks := self.models if kind == "models" else self.datasets):
            raise self.config.error(f"defines no {kind}; give a list of mappings that is called {kind}")
        return [block.updated(source=str(self.config.path)) if kind == "datasets" else block for block in blocks]


def translate(path: Path) -> Translated:
    """Run a Python configuration and translate what it defines: `models`, `datasets` or ``*_datasets``, `summarizer`.

    Nothing is refused yet: `Translated.report` holds what has no counterpart (`Report.check`).

    Raises:
        SpecError: the file does not run, or a variable has the wrong shape; names file and line.
    """
    config, report = load_config(path, root()), Report()
    translator = Translator(config, report)
    models = [translator.located(model(translator, block, place)) for block, place in _blocks(config, _models(config))]
    judges = [translator.located(model(translator, block, place)) for block, place in _judges(config)]
    datasets = [translator.located(dataset(translator, block, place)) for block, place in _blocks(config, _datasets(config))]
    abbrs = {block.value["abbr"] for block in datasets}
    summarizer = _summarizer(translator, config.values.get("summarizer"), abbrs)
    check_rest(translator, {block.value["abbr"] for block in models})
    _rest(translator)
    return Translated(config, models, datasets, judges, summarizer, report)


def _models(config: Config) -> list[str]:
    if "models" in config.values:
        return ["models"]
    return [name for name in config.values if name.endswith("_models") and name != "judge_models"]


def _judges(config: Config) -> Iterable[tuple[Mapping[str, Any], Where]]:
    """Yield the judges: of a variable, or else of the partitioner."""
    if config.values.get("judge_models"):
        return _blocks(config, ["judge_models"])
    return [(block, (shown(config.path), config.lines.get("eval"))) for block in judge_models(config)]


def _datasets(config: Config) -> list[str]:
    """Return the variables that hold datasets: `datasets`, or else those whose names end so, as OpenCompass takes them."""
    if "datasets" in config.values:
        return ["datasets"]
    return [name for name, value in config.values.items() if name.endswith("_datasets") and not callable(value)]


def _blocks(config: Config, names: Iterable[str]) -> Iterator[tuple[Mapping[str, Any], Where]]:
    """Yield the blocks of some variables and where these were bound; one block twice, as shared lists give it, counts once."""
    seen: set[int] = set()
    for name in names:
        value, line = config.values[name], config.lines.get(name)
        if not isinstance(value, list | tuple):
            raise config.error(f"must be a list of mappings, not {_kind(value)}", name)
        for position, block in enumerate(value):
            if not isinstance(block, Mapping):
                flat = "; join lists with sum([...], [])" if isinstance(block, list) else ""
                raise config.error(f"must be a mapping, not {_kind(block)}{flat}", name, f"{name}[{position}]")
            if id(block) not in seen:
                seen.add(id(block))
                yield block, (shown(config.path), line)


def _kind(value: Any) -> str:
    return f"the class {dotted(value)}" if isinstance(value, type) else kind_of(dict(value) if isinstance(value, dict) else value)


def _summarizer(translator: Translator, block: Any, abbrs: set[str]) -> Json:
    """Return what the leaderboard shows; groups and names that this evaluation has nothing for are left out."""
    if not isinstance(block, Mapping):
        return {}
    place = translator.where(block, (shown(translator.config.path), translator.config.lines.get("summarizer")))
    if (kind := block.get("type")) is not None and "DefaultSummarizer" not in str(kind):
        translator.report.note(
            f"summarizer {getattr(kind, '__name__', kind)}: the leaderboard shows every metric of the evaluators", place
        )
    known, groups = set(abbrs), []
    for written in block.get("summary_groups") or []:
        group = {key: value for key, value in translator.value(written, place).items() if key in _GROUP_FIELDS}
        group["subsets"] = [_subset(subset) for subset in group.get("subsets", [])]
        if any(_name(subset) in known for subset in group["subsets"]):
            groups.append(group)
            known.add(group["name"])
    found: dict[str, Json] = {"summary_groups": groups} if groups else {}
    wanted = [_subset(entry) for entry in translator.value(block.get("dataset_abbrs") or [], place)]
    shown_here = [entry for entry in wanted if _name(entry) in known]
    return {**found, **({"dataset_abbrs": shown_here} if shown_here else {})}


def _subset(entry: Json) -> Json:
    """Return a member: its abbr, or abbr and metric."""
    return [plain_abbr(str(entry[0])), *entry[1:]] if isinstance(entry, list) and entry else plain_abbr(str(entry))


def _name(entry: Json) -> str:
    return str(entry[0] if isinstance(entry, list) else entry)


def _rest(translator: Translator) -> None:
    """Answer the blocks that say how and where OpenCompass runs."""
    config, report = translator.config, translator.report
    for name in ("infer", "eval"):
        block = config.values.get(name)
        for part, word in tables.SPLIT_AND_RUN.items():
            if isinstance(block, Mapping) and part in block:
                report.note(word, translator.where(block[part], (shown(config.path), config.lines.get(name))))
    for name, word in tables.TOP.items():
        if name in config.values:
            report.note(f"{name}: {word}", (shown(config.path), config.lines.get(name)))
