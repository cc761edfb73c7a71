"""Throughput of sweeps on Dask against threads, on the same cores, in turns.

    python benches/sweep/dask_against_threads.py [--runs 200] [--rounds 5] [--seconds 5]

Both engines stay up; the first round warms them and does not count. For each round it prints the
runs a second of each engine and the processor time that a run takes in all processes. Dask's
share is the median over the rounds of Dask's runs a second over threads'. On a busy machine, the
ratio of processor times is the steadier figure.
"""

import argparse
import statistics
import time
from contextlib import ExitStack
from pathlib import Path

import psutil

from headrace.simulate import Trust, load
from headrace.sweeps.engines import Engine, engine
from headrace.sweeps.task import Task

SCENARIO = Path(__file__).parents[2] / "scenarios" / "pfssim-sfq.toml"


def tasks(count: int) -> list[Task]:
    """Runs with a seed each."""
    return [
        Task(number, str(number), (f"run.seed={number}", "run.replications=1"))
        for number in range(count)
    ]


def processor_s() -> float:
    """Processor time of this process and its children so far."""
    me = psutil.Process()
    times = [process.cpu_times() for process in (me, *me.children(recursive=True))]
    return sum(it.user + it.system for it in times)


def measure(runs: Engine, count: int) -> tuple[float, float]:
    """Return the runs a second and the processor time of a run."""
    begun, spent = time.monotonic(), processor_s()
    for _, outcome in runs.outcomes(iter(tasks(count))):
        if outcome.error:
            raise SystemExit(outcome.error)
    return count / (time.monotonic() - begun), (processor_s() - spent) / count


def compare(runs: int, rounds: int, seconds: float) -> tuple[float, float]:
    """Return the throughput of Dask over that of threads, and the processor time of a run in
    threads over that on Dask.

    Args:
        runs: Runs of a round on each engine.
        rounds: Rounds that count.
        seconds: Simulated seconds of a run.
    """
    scenario = load(SCENARIO, {"run.stop.time": f"{seconds} s"})
    with ExitStack() as stack:
        engines = {
            name: stack.enter_context(engine(name, scenario, Trust()))
            for name in ("threads", "dask")
        }
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in engines}
        for number in range(rounds + 1):
            # The order changes, so that neither always comes first.
            for name in sorted(engines, reverse=bool(number % 2)):
                rate, spent = measure(engines[name], runs if number else 10)
                if number:
                    found[name].append((rate, spent))
                    print(f"{name}: {rate:.1f} runs/s, {1e3 * spent:.1f} ms of processor a run")
    pairs = list(zip(found["dask"], found["threads"], strict=True))
    share = statistics.median(dask[0] / threads[0] for dask, threads in pairs)
    return share, statistics.median(threads[1] / dask[1] for dask, threads in pairs)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    options.add_argument("--runs", type=int, default=200)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--seconds", type=float, default=5, help="simulated seconds of a run")
    given = options.parse_args()
    share, spent = compare(given.runs, given.rounds, given.seconds)
    print(f"Dask reaches {100 * share:.0f} % of the throughput of threads")
    print(f"Threads take {100 * spent:.0f} % of the processor time of Dask")


if __name__ == "__main__":
    main()
