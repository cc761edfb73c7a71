"""Estimate parameters by bounded least squares of simulated probes to measured ones.

    python benches/twin/least_squares.py [--twins] [BLOCK...]

An alternative to the estimators of `headrace calibrate` (docs/explanation/calibration.md). BLOCKs
are groups of parameters that are fitted together, by default all in `BLOCKS`; other parameters keep
their estimators. Prints the errors of the parameters of a simulated machine, and the processor
time. With `--twins`, re-predicts the saved twins in `tests/data/twins` and prints their errors.
"""

from __future__ import annotations

import argparse
import functools
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from file_systems import headings, rows
from numpy.typing import NDArray
from scipy.optimize import least_squares

from headrace import validate
from headrace.calibrate import measurements
from headrace.calibrate.estimators import (
    ESTIMATORS,
    Estimator,
    calls,
    copy_cost,
    l3_reuse,
    pages,
    probes_for,
)
from headrace.calibrate.estimators.estimator import Known, word_key
from headrace.calibrate.measurements import Measurements, _estimate_parameters
from headrace.calibrate.parameter import Parameter
from headrace.calibrate.probe import Times
from headrace.calibrate.run_report import simulated
from headrace.document_io import read_document
from headrace.fields import convert
from headrace.validate.repredict import SavedTwin

ROOT = Path(__file__).parents[2]
TWINS = ROOT / "tests" / "data" / "twins"
STEP = 0.02
"""Relative step of the numerical derivatives."""
MOST = 12
"""Most steps of a fit."""


@dataclass(frozen=True)
class Block:
    """Parameters that are fitted together to the probes of their estimator."""

    estimator: Estimator
    fields: Mapping[str, tuple[float, float]]
    """Start and upper bound of each parameter below `machine`, in SI units."""


BLOCKS = {
    "calls": Block(
        calls.ESTIMATOR, {"cpu.system_call": (3e-7, 1e-4), "cpu.library_call": (1e-8, 1e-5)}
    ),
    "copies": Block(
        copy_cost.ESTIMATOR,
        {f"copying.page_in_{level}": (3e-7, 1e-5) for level in ("l2", "l3", "memory")}
        | {f"copying.{level}_share": (0.2, 0.99) for level in ("l2", "l3")},
    ),
    "reuse": Block(
        l3_reuse.ESTIMATOR,
        {
            "cpu.discontiguous_call": (3e-7, 1e-5),
            "copying.reuse_share": (0.5, 1.0),
            "copying.l3_reach": (10 << 20, 32 << 20),
        },
    ),
    "pages": Block(
        pages.ESTIMATOR,
        {"copying.write_share": (0.9, 1.0)}
        | {
            f"file_system.{it}": (start, 1e-4)
            for it, start in (
                ("write_call", 1e-6),
                ("write_page", 1e-7),
                ("buffer_head", 1e-7),
                ("new_page", 6e-7),
                ("new_folio", 1e-6),
                ("uncached_page", 4e-7),
            )
        },
    ),
}
UNITS = {field: unit for it in ESTIMATORS for field, unit in it.units.items()}


def text(field: str, value: float) -> str:
    return Parameter(field, (value,), UNITS.get(field.rsplit(".", 1)[-1], "s"), "").text()


def fitted(block: Block, system: str, settings: Mapping[str, str]) -> Estimator:
    """Return an estimator that fits a block on a file system with these settings."""
    fields = [f"machine.{field}" for field in block.fields]
    start, upper = (np.array(it) for it in zip(*block.fields.values(), strict=True))
    probes = [it for it in block.estimator.probes if it.made_by != "null"]

    def solve(times: Times, known: Known) -> dict[str, float]:
        engine = times.get(calls.NOTHING.name, 0.0)
        measured = np.array([times[it.name] - engine * ("library" in it.workload) for it in probes])
        others = {field: text(field, it) for field, it in known.items() if field not in settings}

        def residuals(x: NDArray[np.float64]) -> NDArray[np.float64]:
            own = {it: text(it, float(value)) for it, value in zip(fields, x * start, strict=True)}
            sets = {**settings, **others, **own}
            sets = {field: it for field, it in sets.items() if " = " not in field}
            found = []
            for probe in probes:
                run = simulated(
                    f'system = "{system}"\n{probe.text}\n'
                    '[machine.device]\nkind = "throttled"\nrate = "2 GB/s"\n',
                    sets,
                )
                # A simulation reports the library's bufferfuls, a measurement each call.
                each = calls.BUFFER if "library" in probe.workload else 1
                found.append(probe.seconds(run) / each)
            return np.asarray(np.array(found) / measured - 1, float)

        found = least_squares(
            residuals,
            np.ones(len(fields)),
            bounds=(0.0, upper / start),
            diff_step=np.full(len(fields), STEP),
            ftol=1e-6,
            xtol=1e-4,
            max_nfev=MOST,
        )
        return dict(zip(fields, map(float, found.x * start), strict=True))

    method = f"least squares of {len(probes)} simulated probes"
    return Estimator(tuple(block.estimator.probes), solve, method, block.estimator.units)


def estimators(names: Sequence[str], system: str, read: Sequence[Parameter]) -> list[Estimator]:
    """Return all estimators, with those of the named blocks replaced by fits."""
    settings = {it.field: it.text() for it in read}
    settings |= {word_key(it.field, str(it.value)): "" for it in read}
    own = {id(BLOCKS[it].estimator): fitted(BLOCKS[it], system, settings) for it in names}
    return [own.get(id(it), it) for it in ESTIMATORS]


def flat(table: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from flat(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value


def recover(names: Sequence[str]) -> None:
    """Estimate the parameters of the tests' simulated machine."""
    sys.path.insert(0, str(ROOT / "tests" / "python"))
    from known_machine import KNOWN, READ, probed

    machine = ROOT / "out" / "known-machine.toml"
    machine.parent.mkdir(exist_ok=True)
    machine.write_text(KNOWN)
    times = {it.name: probed(it, machine) for it in probes_for(())}
    known = dict(flat(tomllib.loads(KNOWN)))
    fields = {f"machine.{field}" for name in names for field in BLOCKS[name].fields}
    blocks: Sequence[str]
    for label, blocks in (("estimators", ()), ("least squares", names)):
        start = time.process_time()
        found = _estimate_parameters([times, times], READ, estimators(blocks, "ext4", READ))
        seconds = time.process_time() - start
        print(f"{label}: {seconds:.2f} s of processor time for two rounds and their estimate")
        for it in found:
            if it.field in fields:
                print(f"  {it.field} = {it.text()} (is {known.get(it.field, 'the default')})")


def again(names: Sequence[str], saved: Path) -> dict[str, Any]:
    record = convert(read_document(saved), SavedTwin).calibration
    own = estimators(names, saved.stem.split("-")[0], Measurements.of_record(record).read)
    measurements._estimate_parameters = functools.partial(_estimate_parameters, estimators=own)
    return validate.repredict(saved).json()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--twins", action="store_true", help="re-predict the saved twins")
    parser.add_argument("block", metavar="BLOCK", nargs="*", choices=[*BLOCKS, []], default=[])
    given = parser.parse_args()
    names = given.block or list(BLOCKS)
    if not given.twins:
        recover(names)
        return
    saved = sorted(TWINS.glob("*.json"))
    with ProcessPoolExecutor() as pool:
        documents = list(pool.map(functools.partial(again, names), saved))
    lines = headings("file system, disk")
    for path, document in zip(saved, documents, strict=True):
        lines += rows(path.stem, document)
    print("\n".join(lines))
    points = [it for document in documents for it in document["points"] if it["group"] == "cache"]
    errors = np.abs([it["error"] for it in points])
    print(
        f"cached cases: median error {np.median(errors):.2%}, 95th percentile"
        f" {np.percentile(errors, 95):.1%}, largest {errors.max():.1%}"
    )


if __name__ == "__main__":
    main()
