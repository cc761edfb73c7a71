"""Completion of values in a shell. No value is offered where a list cannot be read."""

import contextlib
import io
import json
from collections.abc import Iterable, Iterator
from typing import Any

from headrace import _core
from headrace.quantities import SHOWN_FIGURES

NEWEST = 50
"""Results of the store that are offered."""


def complete(context: Any, parameter: Any, incomplete: str) -> list[str]:
    """Return the values of an option or argument that begin with the text typed so far."""
    known: list[str] = []
    # A message or a traceback would be in the way of what is typed.
    with contextlib.suppress(Exception), contextlib.redirect_stderr(io.StringIO()):
        if not context.command_path.startswith("headrace design"):
            known = [
                value for value in _values(parameter, incomplete) if value.startswith(incomplete)
            ]
    return known


def _values(parameter: Any, incomplete: str) -> Iterable[str]:
    if "results:ID" in (parameter.help or ""):
        # Without a text, the shell completes names of files.
        return [f"results:{identifier}" for identifier in _results()] if incomplete else []
    match parameter.opts[0] if parameter.param_type_name == "option" else parameter.metavar:
        case "--set" | "--vary":
            return sorted(set(_fields(json.loads(_core.schema()), ())))
        case "--figure" | "--maximise" | "--minimise":
            return SHOWN_FIGURES
        case "--on":
            from headrace.sweeps.engines import ENGINES

            return ENGINES
        case "--system":
            return [name for name, _ in _core.presets()]
        case "--workload":
            return [name for name, _ in _core.workloads()]
        case "ID" | "ID..." | "[ID...]":
            return _results()
    return []


def _fields(node: Any, path: tuple[str, ...]) -> Iterator[str]:
    """Yield the paths of the fields below a node of a JSON Schema; items of lists have 0."""
    variants = [*node.get("oneOf", ()), *node.get("anyOf", ())]
    item = node.get("items", {})
    for variant in variants:
        yield from _fields(variant, path)
    for name, field in node.get("properties", {}).items():
        yield from _fields(field, (*path, name))
    if item.keys() & {"properties", "oneOf", "anyOf"}:
        yield from _fields(item, (*path, "0"))
    elif path and not variants and "properties" not in node:
        yield ".".join(path)


def _results() -> list[str]:
    """Return the newest results in a store that is a directory. A server might not answer."""
    from headrace import store
    from headrace.store.location import Directory

    known = store.open()
    if not isinstance(known.location, Directory) or not known.location.catalogue.exists():
        return []
    return ["last", *(entry.id for entry in known.listed(store.make_filter(limit=NEWEST)).entries)]
