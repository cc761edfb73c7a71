"""Examples in the docstrings of everything public run, and give what they show."""

import doctest
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import headrace as hr
from conftest import ROOT
from headrace.optimisation import Optimum
from headrace.sweeps import Sweep, WhatIf
from headrace.table_export import TableExport

RESULTS = (Sweep, WhatIf, Optimum, TableExport.to_pandas, hr.net.load)
MODULES = (hr.design, hr.store)
"""Modules whose functions have examples."""


def public() -> Iterator[tuple[str, Any]]:
    """Yield every public callable of Python with its name. Those of Rust have no docstrings."""
    for name in hr.__all__:
        value = getattr(hr, name)
        if value in MODULES:
            within = ((key, getattr(value, key)) for key in value.__all__)
            yield from ((f"{name}.{key}", one) for key, one in within if inspect.isfunction(one))
        elif callable(value) and getattr(value, "__module__", "") != "headrace":
            yield name, value if hasattr(value, "__name__") else type(value)
    yield from ((one.__qualname__, one) for one in RESULTS)


PUBLIC = dict(public())


@pytest.mark.parametrize("name", PUBLIC)
def test_the_examples_of_a_docstring_run(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("HEADRACE_STORE", str(tmp_path / "store"))
    value = PUBLIC[name]
    found = doctest.DocTestParser().get_doctest(
        inspect.getdoc(value) or "", {"hr": hr}, name, None, None
    )
    assert found.examples, f"the docstring of {name} has no example"
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    assert runner.run(found, out=report.append).failed == 0, "".join(report)


def test_all_public_names_are_known() -> None:
    assert {"run", "sweep", "whatif", "optimise", "load", "command", "design.solve"} <= {*PUBLIC}
