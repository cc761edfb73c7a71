"""Saved results in JSON: of simulations, benchmarks, twins and profiles."""

import contextlib
from pathlib import Path
from typing import NoReturn

import headrace as hr
from headrace.measure.resume import read_earlier
from headrace.profile.baseline.saved_results import import_baseline
from headrace.result_import import import_results
from headrace.store import open as open_store
from headrace.validate.repredict import repredict
from headrace.validate.saved_measurement import read_measurement


class _Simulation(BaseException):
    """A twin has been read, and its simulations begin."""


def _earlier(path: Path) -> None:
    read_earlier(str(path))


def _baseline(path: Path) -> None:
    import_baseline(path.parent, [str(path)])


def _twin(path: Path) -> None:
    def stop(*_: object) -> NoReturn:
        raise _Simulation

    with contextlib.suppress(_Simulation):
        repredict(path, on_progress=stop)


def _import(path: Path) -> None:
    # One store serves all inputs of a process: making one takes longer than an import.
    store = open_store(path.parent / "store")
    for identifier, is_new in import_results(store, path).items():
        store.shown(identifier)
        store.figures([identifier])
        if is_new:
            store.remove(identifier)


READERS = (hr.load_result, hr.load, read_measurement, _earlier, _baseline, _twin, _import)
