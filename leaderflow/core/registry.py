"""Names for everything a configuration can name. A table of strings: nothing heavy is imported until a name is used.

`type` in a configuration is a registered name, or ``package.module:Name`` in files the user names.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Literal

from leaderflow.core.arguments import refuse_impossible
from leaderflow.core.errors import SpecError, did_you_mean
from leaderflow.core.names import NAMES
from leaderflow.core.types import Json

Kind = Literal["dataset", "template", "retriever", "inferencer", "model", "evaluator", "postprocessor"]


_LOCAL: dict[str, Callable[..., Any]] = {}
"""Functions and classes of configuration files that run in this process."""


def register_local(name: str, found: Callable[..., Any]) -> None:
    """Give a function or class of a configuration file a name for this process; ``file.py:name@digest`` by convention."""
    _LOCAL[name] = found


def known(kind: Kind) -> list[str]:
    """Return the registered names of a kind, sorted."""
    return sorted(NAMES[kind])


def resolve(kind: Kind, name: str, *, key: str | None = None) -> Callable[..., Any]:
    """Return the class or function behind a name, importing its module.

    Raises:
        SpecError: the name is unknown or its module cannot be imported.
    """
    if name in _LOCAL:
        return _LOCAL[name]
    target = NAMES[kind].get(name) or (name if ":" in name else None)
    if target is None:
        raise SpecError(f"unknown {kind} type {name!r}{did_you_mean(name, NAMES[kind])}", key=key)
    module, _, attribute = target.partition(":")
    if module.endswith(".py"):
        raise SpecError(f"{kind} type {name!r} is code of a Python configuration; run that file itself", key=key)
    if module.startswith("opencompass."):
        return _from_source(kind, target, key)
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as exc:
        raise SpecError(f"{kind} type {name!r} cannot be loaded: {exc}", key=key) from exc
    return _adapted(kind, found) if name == target else found  # type: ignore[no-any-return]


def _from_source(kind: Kind, target: str, key: str | None) -> Callable[..., Any]:
    from leaderflow.core.opencompass import sources

    try:
        return sources.load(target, kind)
    except SpecError as exc:
        raise exc if exc.file or exc.key else SpecError(exc.message, key=key) from exc


def _adapted(kind: Kind, found: Any) -> Any:
    """Return a user's own class, or one in the style of OpenCompass, in the form in which ours are called."""
    from leaderflow.core.opencompass import sources

    return sources.adapted(kind, found)


def check(kind: Kind, config: Mapping[str, Json], *, key: str | None = None, handed: frozenset[str] = frozenset()) -> None:
    """Check a ``{type: …, **arguments}`` mapping against the signature of what it names, without building it.

    Args:
        kind: what the mapping describes.
        config: the mapping.
        key: where it stands in the spec, for the message.
        handed: parameters that leaderflow itself passes; a configuration must not name them.

    Raises:
        SpecError: no type, an unknown type, an unknown or a missing argument.
    """
    _bind(kind, config, key, handed)


def arguments(kind: Kind, name: str) -> tuple[list[str], bool]:
    """Return the arguments that a type takes, and whether it takes any others too."""
    accepted = _parameters(resolve(kind, name))
    return [argument for argument in accepted if argument != "**"], "**" in accepted


def build(kind: Kind, config: Mapping[str, Json], *, key: str | None = None, **handed: Any) -> Any:
    """Build what a ``{type: …, **arguments}`` mapping names; `handed` are arguments that leaderflow passes beside it.

    Raises:
        SpecError: as `check`, or an argument of a kind that the type cannot be made from.
    """
    factory = _bind(kind, config, key, frozenset(handed))
    accepted = _parameters(factory)
    own = {name: value for name, value in handed.items() if name in accepted or accepted.get("**")}
    try:
        return factory(**{name: value for name, value in config.items() if name != "type"}, **own)
    except (TypeError, ValueError, AttributeError) as exc:
        raise SpecError(f"{config['type']} cannot be made from these arguments: {type(exc).__name__}: {exc}", key=key) from exc


def bind(kind: Kind, config: Mapping[str, Json], *, key: str | None = None) -> Callable[..., Any]:
    """Return the function that a mapping names with its arguments bound: the form of postprocessors (`text` comes first)."""
    function = _bind(kind, config, key, frozenset({"text"}))
    arguments = {name: value for name, value in config.items() if name != "type"}
    return (lambda text: function(text, **arguments)) if arguments else function


def _bind(kind: Kind, config: Mapping[str, Json], key: str | None, handed: frozenset[str]) -> Callable[..., Any]:
    name = config.get("type") if isinstance(config, Mapping) else None
    if not isinstance(name, str):
        raise SpecError(f"a {kind} needs a 'type' (one of {', '.join(known(kind)[:6])}, …), got {config!r}", key=key)
    factory = resolve(kind, name, key=key)
    accepted = _parameters(factory)
    given = set(config) - {"type"}
    names = [n for n in accepted if n != "**" and n not in handed]
    for unknown in sorted(given - set(names)):
        if not accepted.get("**") or unknown in handed:
            raise SpecError(f"{name} has no argument {unknown!r}{did_you_mean(unknown, names)}", key=key)
    for required in names:
        if accepted[required] and required not in given:
            raise SpecError(f"{name} needs the argument {required!r}", key=key)
    if kind == "postprocessor" and NAMES[kind].get(name, "").startswith("evaluators."):
        given_here = {argument: value for argument, value in config.items() if argument != "type"}
        refuse_impossible(factory, given_here, key=".".join(part for part in (key, name) if part))
    return factory


def _parameters(factory: Callable[..., Any]) -> dict[str, bool]:
    """Return parameter → required; the entry ``**`` says that any name is taken. The first parameter of a function is its text."""
    found: dict[str, bool] = {}
    for name, parameter in inspect.signature(factory).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            found["**"] = True
        elif parameter.kind is not parameter.VAR_POSITIONAL and not (not inspect.isclass(factory) and name == "text"):
            found[name] = parameter.default is parameter.empty
    return found
