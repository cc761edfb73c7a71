"""The striped read in SimPy: clients read files that are striped over servers.

The same stations as scenarios/striped-read.toml: a card each way on every
host, a disk on every server, a metadata server that is asked once a file. Each
message passes a card whole before it goes on, which takes SimPy fewer steps
than cutting through; the disks are the limit either way. Prints one JSON
object. Run by `striped_read.py`, or alone:

    python simpy_model.py [CLIENTS] [SERVERS] [FILES]
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Generator, Iterable

import simpy

FILE = 1 << 20
STRIPE = 256 << 10
DISK = 60e6
BANDWIDTH = 1e9 / 8
LATENCY = 0.2e-3
MESSAGE = 156
PACKET_DATA, PACKET_OVERHEAD = 1500 - 40, 40 + 38

Steps = Generator[simpy.Event, None, None]


def wire_time(data: int) -> float:
    """Return the seconds on a link for a message with so much file data."""
    size = data + MESSAGE
    packets = -(-size // PACKET_DATA)
    return (size + packets * PACKET_OVERHEAD) / BANDWIDTH


class Host:
    """A machine: a network card that sends and receives at once, and a disk."""

    def __init__(self, env: simpy.Environment) -> None:
        self.sending = simpy.Resource(env)
        self.receiving = simpy.Resource(env)
        self.disk = simpy.Resource(env)


class System:
    """Clients, servers, and the network between them."""

    def __init__(self, clients: int, servers: int, files: int) -> None:
        self.env = simpy.Environment()
        self.random = random.Random(1)
        self.servers = [Host(self.env) for _ in range(servers)]
        self.metadata = Host(self.env)
        self.requests = 0
        self.latency = 0.0
        for _ in range(clients):
            self.env.process(self.client(Host(self.env), range(files)))

    def client(self, host: Host, files: Iterable[int]) -> Steps:
        """Read files one after another."""
        for _ in files:
            start = self.env.now
            yield from self.send(host, self.metadata, 0)
            yield from self.send(self.metadata, host, 0)
            first = self.random.randrange(len(self.servers))
            jobs = [
                self.env.process(self.job(host, self.servers[(first + stripe) % len(self.servers)]))
                for stripe in range(FILE // STRIPE)
            ]
            yield self.env.all_of(jobs)
            self.requests += 1
            self.latency += self.env.now - start

    def job(self, client: Host, server: Host) -> Steps:
        """Read one stripe."""
        yield from self.send(client, server, 0)
        yield from self.use(server.disk, STRIPE / DISK)
        yield from self.send(server, client, STRIPE)

    def send(self, sender: Host, receiver: Host, data: int) -> Steps:
        """Send a message."""
        seconds = wire_time(data)
        yield from self.use(sender.sending, seconds)
        yield self.env.timeout(LATENCY)
        yield from self.use(receiver.receiving, seconds)

    def use(self, resource: simpy.Resource, seconds: float) -> Steps:
        """Wait for a resource, and use it."""
        with resource.request() as turn:
            yield turn
            yield self.env.timeout(seconds)


def main() -> None:
    """Run the model and print its counts."""
    given = [int(argument) for argument in sys.argv[1:]]
    clients, servers, files = [*given, *(64, 4, 400)[len(given) :]]
    system = System(clients, servers, files)
    start = time.perf_counter()
    system.env.run()
    wall = time.perf_counter() - start
    print(
        json.dumps(
            {
                "simulated_seconds": system.env.now,
                "wall_seconds": wall,
                "requests": system.requests,
                "mean_latency": system.latency / system.requests,
            }
        )
    )


if __name__ == "__main__":
    main()
