"""The curves of a sweep over client hosts, each as the load sweep that it is."""

from collections.abc import Mapping
from typing import Any

Document = Mapping[str, Any]


def curves(document: Document) -> dict[int, Document]:
    """The document of a load sweep for each number of client hosts."""
    return {
        curve["client_hosts"]: _load_sweep(document, curve["client_hosts"])
        for curve in document["curves"]
    }


def _load_sweep(document: Document, count: int) -> Document:
    steps = [step for step in document["steps"] if step["client_hosts"] == count]
    made = {**document, "of": "loads", "steps": steps, "warnings": [], **_curve(document, count)}
    if "repetitions" in document:
        made["repetitions"] = [_curve(it, count) for it in document["repetitions"]]
    return made


def _curve(document: Document, count: int) -> Document:
    found = (it for it in document["curves"] if it["client_hosts"] == count)
    return next(found, {})
