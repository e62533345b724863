"""Rewrites a configuration file's syntax tree: imports become references or base files, mappings note their line."""

from __future__ import annotations

import ast

FOREIGN = frozenset({"opencompass", "mmengine", "torch", "templating", "readers", "inference", "evaluators"})
"""Packages whose names become references in a configuration, whether they are installed or not."""

CONFIGS = "opencompass.configs"
"""Below this, names are files: base configurations."""

BLOCK, REFERENCE, STAR, BASE, BASE_STAR = "__block__", "__reference__", "__star__", "__base__", "__base_star__"
"""Functions that the rewritten file calls; the loader defines them."""

_MAPPINGS = frozenset({"dict", "ConfigDict"})


def rewritten(tree: ast.Module, foreign: frozenset[str] = FOREIGN, *, blocks: bool = True) -> ast.Module:
    """Return the tree with its imports rewritten, and where `blocks` its mappings; every statement keeps its line.

    Args:
        tree: the file.
        foreign: packages whose names become references.
        blocks: whether mappings note where they were written.
    """
    changed = ast.fix_missing_locations(_Rewriter(foreign, blocks).visit(tree))
    assert isinstance(changed, ast.Module)
    return changed


def assigned(tree: ast.Module) -> dict[str, int]:
    """Return the line at which each name of the file was last bound."""
    lines: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            lines[node.id] = max(node.lineno, lines.get(node.id, 0))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            lines.update({alias.asname or alias.name.partition(".")[0]: node.lineno for alias in node.names})
    return lines


class _Rewriter(ast.NodeTransformer):
    def __init__(self, foreign: frozenset[str], blocks: bool) -> None:
        self._foreign, self._blocks, self._in_base = foreign, blocks, False

    def visit_With(self, node: ast.With) -> ast.AST | list[ast.stmt]:
        if not (len(node.items) == 1 and _is_read_base(node.items[0].context_expr)):
            return self.generic_visit(node)
        self._in_base = True
        body = [self.visit(statement) for statement in node.body]
        self._in_base = False
        return [part for found in body for part in (found if isinstance(found, list) else [found])]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | list[ast.stmt]:
        module = node.module or ""
        if node.level or self._in_base or module.startswith(f"{CONFIGS}."):
            return [_base_import(node, alias) for alias in node.names]
        if module.partition(".")[0] in self._foreign:
            return [_from_foreign(node, module, alias) for alias in node.names]
        return node if module == "__future__" else _attempted(node, [_from_foreign(node, module, a) for a in node.names])

    def visit_Import(self, node: ast.Import) -> ast.AST | list[ast.stmt]:
        stands = [_module(node, alias) for alias in node.names]
        own = [alias.name.partition(".")[0] in self._foreign for alias in node.names]
        return stands if all(own) else _attempted(node, stands)

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        inner = self.generic_visit(node)
        return _noted(inner, node) if self._blocks else inner

    def visit_Call(self, node: ast.Call) -> ast.AST:
        inner = self.generic_visit(node)
        mapping = isinstance(node.func, ast.Name) and node.func.id in _MAPPINGS
        return _noted(inner, node) if self._blocks and mapping else inner


def _is_read_base(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    return ast.unparse(node.func).rpartition(".")[2] == "read_base"


def _base_import(node: ast.ImportFrom, alias: ast.alias) -> ast.stmt:
    place = (node.level, node.module or "", node.lineno)
    if alias.name == "*":
        return ast.copy_location(ast.Expr(_call(BASE_STAR, *place)), node)
    return _assign(node, alias.asname or alias.name, _call(BASE, *place, alias.name))


def _from_foreign(node: ast.stmt, module: str, alias: ast.alias) -> ast.stmt:
    if alias.name == "*":
        return ast.copy_location(ast.Expr(_call(STAR, module)), node)
    return _assign(node, alias.asname or alias.name, _call(REFERENCE, module, alias.name))


def _module(node: ast.Import, alias: ast.alias) -> ast.stmt:
    top = alias.name.partition(".")[0]
    return _assign(node, alias.asname or top, _call(REFERENCE, alias.name if alias.asname else top, ""))


def _attempted(node: ast.stmt, otherwise: list[ast.stmt]) -> ast.stmt:
    """Import what is there; what is not becomes a reference, so that everything missing is reported at once."""
    handler = ast.ExceptHandler(type=ast.Name("ImportError", ast.Load()), name=None, body=otherwise)
    return ast.copy_location(ast.Try(body=[node], handlers=[handler], orelse=[], finalbody=[]), node)


def _noted(inner: ast.AST, node: ast.expr) -> ast.AST:
    assert isinstance(inner, ast.expr)
    call = ast.Call(ast.Name(BLOCK, ast.Load()), [inner, ast.Constant(node.lineno)], [])
    return ast.copy_location(call, node)


def _call(function: str, *values: str | int) -> ast.expr:
    return ast.Call(ast.Name(function, ast.Load()), [ast.Constant(value) for value in values], [])


def _assign(node: ast.stmt, name: str, value: ast.expr) -> ast.stmt:
    return ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), node)
