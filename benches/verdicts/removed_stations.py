"""Compare the bound of each verdict with the gain of really removing its place.

    python benches/verdicts/removed_stations.py [--limit SECONDS] [--random NUMBER] [FILE ...]

Every scenario runs as it is. Then it runs with the place of its verdict made free: a device that
takes no time, a card without limit, a scheduler that throttles nothing. The gain is the ratio of
requests per simulated second. It must not exceed `most_gain`. Without files, all of `scenarios/`
are checked. `--random` adds small scenarios that are drawn with a fixed seed. Runs beyond the
limit, and places that no setting makes free, are listed as not checked.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import headrace as hr
from headrace.simulate import Scenario

ROOT = Path(__file__).parents[2]
TOLERANCE = 1.01
FREE_DEVICE = {
    "kind": "simple",
    "read_rate": "1000 TB/s",
    "write_rate": "1000 TB/s",
    "time_per_request": "0 s",
}
FREE_CARD = {"bandwidth": "1000 TB/s"}


class TooLong(Exception):
    """A run takes longer than the limit."""


def removal(station: str) -> Mapping[str, Any] | None:
    """Return the values that make a place free; None if no setting does."""
    _, host, *rest = station.split("/")
    place = "/".join(rest)
    found: Mapping[str, Any] | None = None
    if host in ("server", "client") and place.startswith("card "):
        found = {f"{host}s.card": FREE_CARD}
    elif host == "network" and place.split(" ")[0] in ("server", "client") and "card" in place:
        found = {f"{place.split(' ')[0]}s.card": FREE_CARD}
    elif host == "network" and place == "latency":
        found = {"network.latency": "0 s"}
    elif place.endswith("scheduler/queue"):
        found = {"scheduler": {"kind": "none"}}
    elif host == "server" and place == "device":
        found = {"servers.device": FREE_DEVICE}
    elif host == "server" and place == "daemon":
        found = {"servers.daemon.time_per_job": "0 s"}
    elif host == "metadata" and place == "processor":
        found = {"metadata.time_per_operation": "0 s"}
    elif (host == "client" and place == "machine/device") or station == "system/machine/device":
        found = {f"{'clients.' if host == 'client' else ''}machine.device": FREE_DEVICE}
    elif host == "server" and place.endswith("/device") and place.startswith("machine"):
        found = {"servers.machine.device": FREE_DEVICE}
    return found


def is_bound_by_other_direction(verdict: Mapping[str, Any], stations: list[Any]) -> bool:
    """Tell whether a card's bound is that of its other direction, which goes with the card."""
    name = verdict["station"]
    for one, other in (("sending", "receiving"), ("receiving", "sending")):
        if "card" in name and name.endswith(one):
            name = name.removesuffix(one) + other
            break
    else:
        return False
    bounds = [
        1 / it["most_utilisation"]
        for it in stations
        if it["station"] == name and it["most_utilisation"]
    ]
    most = verdict.get("most_gain")
    return most is not None and any(bound <= most * TOLERANCE for bound in bounds)


def rate(scenario: Scenario, limit: float) -> tuple[float, dict[str, Any]]:
    """Return the requests per simulated second, and the document."""

    def end(*_: object) -> None:
        raise TooLong

    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        document = hr.run(scenario, progress=False, trust=True).document
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    requests = sum(it["count"] for it in document["operations"].values())
    return requests / (document["simulated_seconds"] or 1e-12), dict(document)


def drawn(number: int) -> Iterator[tuple[str, str]]:
    """Yield small scenarios, each with its name."""
    for seed in range(number):
        of = random.Random(seed)
        scheduler = of.choice(
            [
                "",
                *(
                    f'[scheduler]\nkind = "{kind}"\ndepth = {of.choice([1, 2, 8])}\n'
                    f'position = "{position}"\n'
                    for kind in ("fifo", "sfq")
                    for position in ("server", "client", "gateway", "proxy")
                ),
            ]
        )
        memory = of.choice(
            ["", '[servers.memory]\ncache = "16 MiB"\n', '[servers.memory]\ncache = "16 MiB"\n']
        )
        if memory and of.random() < 0.5:
            memory += 'dirty_limit = "1 MiB"\n'
        yield (
            f"random {seed}",
            f"""
[clients]
count = {of.randint(1, 3)}
processes = {of.choice([1, 2, 5])}
rpc.in_flight = {of.choice([1, 2, 8])}
[servers]
count = {of.randint(1, 4)}
daemon.time_per_job = "{of.choice(["0 s", "0.1 ms"])}"
[servers.device]
read_rate = "{of.choice([20, 100, 1000])} MB/s"
write_rate = "{of.choice([20, 100, 1000])} MB/s"
time_per_request = "{of.choice(["0 s", "0.5 ms", "5 ms"])}"
{memory}[network]
bandwidth = "{of.choice([12, 125, 1000])} MB/s"
latency = "{of.choice(["0.02 ms", "1 ms"])}"
grain = "{of.choice(["flow", "message"])}"
[layout]
unit = "64 kB"
servers = {of.choice(["1", '"all"'])}
{scheduler}[metadata]
time_per_operation = "{of.choice(["0.1 ms", "2 ms"])}"
[[workload]]
block = "{of.choice([512, 2048])} kB"
transfer = "{of.choice([32, 256])} kB"
phases = {of.choice(['["read"]', '["write"]', '["write", "sync"]', '["write", "read"]'])}
think = "{of.choice(["0 s", "5 ms"])}"
""",
        )


def scenarios(files: list[Path], number: int) -> Iterator[tuple[str, Scenario]]:
    """Yield the scenarios to check, each with its name."""
    for file in files or ([] if number else sorted((ROOT / "scenarios").glob("*.toml"))):
        yield file.name, hr.load(file)
    for name, text in drawn(number):
        yield name, hr.load(text)


def main() -> int:
    """Check the scenarios, and return 1 if a gain is above its bound."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--limit", type=float, default=20.0)
    parser.add_argument("--random", type=int, default=0)
    given = parser.parse_args()
    above, checked, unbounded = 0, 0, 0
    for name, scenario in scenarios(given.files, given.random):
        try:
            before, document = rate(scenario, given.limit)
            verdict = document["bottleneck"]
            values = removal(verdict["station"] or "/")
            if values is None:
                print(f"{name}: not checked: {verdict['station']}", flush=True)
                continue
            after, _ = rate(scenario.with_(values), given.limit)
        except TooLong:
            print(f"{name}: not checked: longer than {given.limit:g} s", flush=True)
            continue
        except (hr.ScenarioError, hr.RunError) as error:
            print(f"{name}: not checked: {error}", flush=True)
            continue
        most = verdict.get("most_gain")
        gain = after / before if before else 1.0
        wrong = most is not None and gain > TOLERANCE * most
        wrong = wrong and not is_bound_by_other_direction(verdict, document["stations"])
        above += wrong
        checked += 1
        unbounded += most is None
        bound = "none" if most is None else f"{most:.3f}"
        mark = "ABOVE " if wrong else ""
        print(f"{name}: {mark}{verdict['station']}: bound {bound}, gain {gain:.3f}", flush=True)
    print(f"{checked} verdicts checked, {unbounded} without a bound, {above} above their bound")
    return int(above > 0)


if __name__ == "__main__":
    sys.exit(main())
