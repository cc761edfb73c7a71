"""Speed of nets with a function in Python, beside the same net with expressions.

    python benches/model/callback.py [ROUNDS]

Half of the common net's firings choose a server: by an expression, or by a function. Rounds are
interleaved; the table has medians and the extremes, in million firings a second of processor
time.
"""

import statistics
import sys
import time
from random import Random

from headrace.net import Net, NetModel, below, exponential

SECONDS = 100.0
"""Simulated time of a run."""


def common(choose: object = None) -> NetModel:
    """Return the common net; `choose` is the function that chooses the server."""
    net = Net("common")
    thinking = net.station(
        "thinking", int, discipline="infinite", service=exponential(5e-3), initial=[0] * 64
    )
    with net.page("server", copies=4) as page:
        disk = page.station("disk", int, service=1e-3)
        done = page.output("done", int)
        with page.transition("back") as t:
            t.put(done, t.take(disk, name="client"))
    net.connect(done, thinking)
    with net.transition("choose") as t:
        client = t.take(thinking, name="client")
        server = t.let("server", below(4)) if choose is None else t.let("server", choose, int)
        t.put(disk, client, copy=server)
    return net.model()


def by_number(client: int) -> int:
    return client % 4


def at_random(random: Random) -> int:
    return random.randrange(4)


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    nets = {
        "expression": common(),
        "function of a token": common(by_number),
        "function with random": common(at_random),
    }
    samples: dict[str, list[float]] = {name: [] for name in nets}
    for _ in range(rounds):
        for name, net in nets.items():
            start = time.process_time()
            firings = net.run(SECONDS).runs[0]["firings"]
            samples[name].append(firings / (time.process_time() - start) / 1e6)
    print(f"{'':24}{'median':>8}{'least':>8}{'most':>8}")
    for name, all in samples.items():
        print(f"{name:24}{statistics.median(all):8.2f}{min(all):8.2f}{max(all):8.2f}")


if __name__ == "__main__":
    main()
