"""Run one case of SimEDC beside Headrace: nine disks, Reed-Solomon (9, 6), no network model.

    python benches/survival/simedc.py DIRECTORY_OF_SIMEDC [MISSIONS]

SimEDC (Zhang, Han and Lee, SRDS 2017, https://github.com/millyz/SimEDC) is written for Python 2.
The script converts a copy with 2to3 and `//` for its integer divisions, in a temporary directory.
Racks and nodes never fail, so that both tools simulate the same system. Losses are made frequent
enough for SimEDC's regular simulation. Runs are interleaved; times are medians.
"""

import json
import logging
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from headrace import _core

HOUR = 3600.0
NEVER = 1e15
"""Scale of a lifetime in hours that no mission sees the end of."""
MISSION = 87_600
LIFETIME = (1.12, 20_000.0)
"""Shape, and scale in hours: far below a common disk's, so that crude missions see losses."""
REPAIR = (2.0, 400.0, 50.0)
"""Shape, scale and location in hours."""
REPETITIONS = 3


def converted(source: Path, target: Path) -> None:
    """Copy SimEDC and convert it to Python 3."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(".git"))
    command = [sys.executable, "-m", "lib2to3", "-w", "-n", str(target)]
    subprocess.run(command, check=True, capture_output=True)
    for path in target.rglob("*.py"):
        text = path.read_text()
        # Indices, which Python 2 divided as integers.
        path.write_text(
            re.sub(r"(\w) / (\(?self\.(?:nodes|disks|n\b|l\b|num_))", r"\1 // \2", text)
        )


def simedc() -> Any:
    """Return SimEDC's regular simulation of the case."""
    from lib.placement import Placement  # type: ignore[import-not-found]
    from lib.regular_simulation import RegularSimulation  # type: ignore[import-not-found]
    from lib.smp_data_structures import Weibull  # type: ignore[import-not-found]

    logging.disable(logging.CRITICAL)
    never = Weibull(shape=1.0, scale=NEVER)
    simulation = RegularSimulation(
        MISSION,
        9,
        1,
        1,
        2**20,
        2**18,
        4,
        Placement.CODE_TYPE_RS,
        9,
        6,
        Placement.PLACE_TYPE_FLAT,
        None,
        never,
        never,
        never,
        never,
        never,
        Weibull(shape=LIFETIME[0], scale=LIFETIME[1]),
        Weibull(shape=REPAIR[0], scale=REPAIR[1], location=REPAIR[2]),
        False,
        [125, 125],
        False,
        None,
        15.0,
        0,
        False,
        0,
    )
    simulation.init()
    return simulation


def headrace(missions: int, seed: int, biasing: bool) -> dict[str, Any]:
    """Ask Headrace about the case; one thread."""
    question = {
        "redundancy": {"kind": "array", "disks": 9, "tolerates": 3},
        "lifetime": {"law": {"kind": "weibull", "shape": LIFETIME[0], "scale": LIFETIME[1] * HOUR}},
        "repair": {
            "rebuild": {
                "kind": "weibull",
                "shape": REPAIR[0],
                "scale": REPAIR[1] * HOUR,
                "location": REPAIR[2] * HOUR,
            }
        },
        "horizons": [MISSION * HOUR],
        "method": "monte-carlo",
        "simulation": {"missions": missions, "seed": seed, "biasing": biasing, "threads": 1},
    }
    answer: dict[str, Any] = json.loads(_core.reliability(json.dumps(question)))
    return answer


def main() -> None:
    """Print probabilities, errors and missions a second of both tools."""
    source = Path(sys.argv[1])
    missions = int(sys.argv[2]) if len(sys.argv) > 2 else 4000
    with tempfile.TemporaryDirectory() as directory:
        target = Path(directory) / "simedc"
        converted(source, target)
        sys.path.insert(0, str(target))
        simulation = simedc()
        random.seed(1)
        np.random.seed(1)
        losses, rates, ours, our_rates = 0, [], [], []
        for repetition in range(REPETITIONS):
            begin = time.perf_counter()
            losses += sum(simulation.run_iteration(0)[0] for _ in range(missions))
            rates.append(missions / (time.perf_counter() - begin))
            begin = time.perf_counter()
            answer = headrace(1_000_000, repetition, biasing=False)
            our_rates.append(1_000_000 / (time.perf_counter() - begin))
            ours.append(answer["horizons"][0]["loss_probability"])
        count = REPETITIONS * missions
        share = losses / count
        error = (share * (1 - share) / count) ** 0.5
        mean = statistics.mean(ours)
        our_error = (mean * (1 - mean) / (REPETITIONS * 1e6)) ** 0.5
        print(f"{'tool':<10} {'loss probability':>17} {'standard error':>15} {'missions/s':>12}")
        print(f"{'SimEDC':<10} {share:>17.5f} {error:>15.5f} {statistics.median(rates):>12,.0f}")
        print(
            f"{'Headrace':<10} {mean:>17.5f} {our_error:>15.5f} "
            f"{statistics.median(our_rates):>12,.0f}"
        )
        distance = abs(share - mean) / (error**2 + our_error**2) ** 0.5
        print(f"distance: {distance:.1f} standard errors")


if __name__ == "__main__":
    main()
