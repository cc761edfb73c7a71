"""Measure the cost of recording a playback.

Runs scenarios with 200 frames and without, in turns, in one process. Writes the median processor
time of each and the median of the ratios within the turns, with its quartiles.
"""

import time
from pathlib import Path
from statistics import quantiles

import headrace as hr

SCENARIOS = Path(__file__).parents[2] / "scenarios"
CASES: dict[str, dict[str, object]] = {
    "hindman-lustre.toml": {},
    "nfs.toml": {},
    "nguyen-random-write.toml": {},
    # Frames visit every copy of a page: here 13,000 clients.
    "spider-checkpoint.toml": {"clients.count": 13_000},
}
FRAMES = 200
REPETITIONS = 7


def seconds(scenario: hr.Scenario, playback: int | None) -> float:
    """Return the processor time of a run."""
    start = time.process_time()
    hr.run(scenario, progress=False, playback=playback)
    return time.process_time() - start


def main() -> None:
    print("| scenario | without, s | with 200 frames, s | ratio | quartiles |")
    print("| --- | --- | --- | --- | --- |")
    for name, sets in CASES.items():
        scenario = hr.load(SCENARIOS / name, sets)
        turns = [(seconds(scenario, None), seconds(scenario, FRAMES)) for _ in range(REPETITIONS)]
        without, recorded = (quantiles(it)[1] for it in zip(*turns, strict=True))
        low, ratio, high = quantiles([it[1] / it[0] for it in turns])
        print(
            f"| {name} | {without:.2f} | {recorded:.2f} | {ratio:.3f} | {low:.3f} to {high:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
