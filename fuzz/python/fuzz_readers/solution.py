"""Saved solutions of designs, and the simulations of a search."""

from pathlib import Path

from headrace.design.search.saved_runs import FILE as SAVED_RUNS
from headrace.design.search.saved_runs import RunStore
from headrace.design.solution_file import read_solution


def _saved_runs(path: Path) -> None:
    path.rename(path.parent / SAVED_RUNS)
    try:
        RunStore(path.parent, lambda _: [])
    except ValueError as error:
        assert SAVED_RUNS in str(error)


READERS = (read_solution, _saved_runs)
