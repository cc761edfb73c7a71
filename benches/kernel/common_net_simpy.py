"""The common net in SimPy: clients think, choose a server, are served.

Prints one JSON object. Run by `compare.py`, or alone:

    python common_net_simpy.py [SECONDS] [CLIENTS] [SERVERS]
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Generator

import simpy

THINK_MS = 5.0
SERVE_MS = 1.0


class Office:
    """Clients in a queue before servers; counts the requests."""

    def __init__(self, clients: int, servers: int, seed: int) -> None:
        self.env = simpy.Environment()
        self.random = random.Random(seed)
        self.servers = [simpy.Resource(self.env) for _ in range(servers)]
        self.requests = 0
        for _ in range(clients):
            self.env.process(self.client())

    def client(self) -> Generator[simpy.Event]:
        """Think and be served, forever."""
        while True:
            yield self.env.timeout(self.random.expovariate(1.0 / THINK_MS))
            server = self.random.choice(self.servers)
            with server.request() as turn:
                yield turn
                yield self.env.timeout(SERVE_MS)
            self.requests += 1


def main() -> None:
    """Run the net and print its counts."""
    arguments = sys.argv[1:]
    seconds = float(arguments[0]) if arguments else 10.0
    clients = int(arguments[1]) if len(arguments) > 1 else 64
    servers = int(arguments[2]) if len(arguments) > 2 else 4
    office = Office(clients, servers, seed=1)
    start = time.perf_counter()
    office.env.run(until=seconds * 1000.0)
    wall = time.perf_counter() - start
    print(
        json.dumps(
            {
                "requests_per_ms": office.requests / (seconds * 1000.0),
                "requests": office.requests,
                "wall_seconds": wall,
            }
        )
    )


if __name__ == "__main__":
    main()
