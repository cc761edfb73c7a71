"""Time the reliability engine through Python: RAID-6 of 8 disks, and a system with latent errors.

    python benches/survival/whole_command.py [REPETITIONS]

Each case runs in a process of its own, as a command does: start of the interpreter, import,
question, answer. The floor is the same process with a chain instead of a simulation. Cases are
interleaved; medians, fastest and slowest runs are printed.
"""

import json
import statistics
import subprocess
import sys
import time
from typing import Any

HOUR = 3600.0
PROGRAM = """
import sys
from headrace import _core
print(_core.reliability(sys.argv[1]))
"""


def raid6(method: str) -> dict[str, Any]:
    """RAID-6 of 8 disks, 1e6 h and 12 h, ten years: 2.1e-9."""
    return {
        "redundancy": {"kind": "array", "disks": 8, "tolerates": 2},
        "lifetime": {"law": {"kind": "exponential", "mean": 1e6 * HOUR}},
        "repair": {"rebuild": {"kind": "exponential", "mean": 12 * HOUR}},
        "horizons": [87_600 * HOUR],
        "method": method,
        "simulation": {"relative_error": 0.01},
    }


def pool() -> dict[str, Any]:
    """A declustered pool of 500 disks, 8 + 3, rebuilt in two hours."""
    return {
        "redundancy": {"kind": "declustered", "disks": 500, "data": 8, "parity": 3},
        "lifetime": {"law": {"kind": "weibull", "shape": 1.12, "scale": 461_386 * HOUR}},
        "repair": {"rebuild": {"kind": "constant", "seconds": 2 * HOUR}},
        "horizons": [87_600 * HOUR],
        "method": "monte-carlo",
        "simulation": {"relative_error": 0.1},
    }


def main() -> None:
    """Print a table."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    cases = {
        "floor: RAID-6 of 8 by the chain": raid6("markov"),
        "RAID-6 of 8, 1 % error": raid6("monte-carlo"),
        "pool of 500, 10 % error": pool(),
    }
    times: dict[str, list[float]] = {name: [] for name in cases}
    answers: dict[str, Any] = {}
    for _ in range(repetitions):
        for name, question in cases.items():
            command = [sys.executable, "-c", PROGRAM, json.dumps(question)]
            begin = time.perf_counter()
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            times[name].append(time.perf_counter() - begin)
            answers[name] = json.loads(done.stdout)
    print(f"{'case':<34} {'median s':>9} {'fastest':>9} {'slowest':>9} {'loss':>11} {'error':>7}")
    for name, taken in times.items():
        last = answers[name]["horizons"][-1]
        loss, error = last["loss_probability"], last["standard_error"]
        print(
            f"{name:<34} {statistics.median(taken):>9.3f} {min(taken):>9.3f} {max(taken):>9.3f} "
            f"{loss:>11.4g} {error / loss:>7.2%}"
        )


if __name__ == "__main__":
    main()
