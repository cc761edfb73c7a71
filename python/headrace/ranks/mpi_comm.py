"""Communicator of several ranks, by messages to and from the first one.

Ranks poll for messages and never block inside MPI. A rank that fails or is interrupted tells the
first rank, which tells all others, so that no rank waits for it. A barrier through the first rank
takes two messages. A barrier of MPI takes more turns the more ranks there are, each as long as the
time between two polls.
"""

import io
import os
import signal
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from headrace._core import RoundKeeper, RunError
from headrace.ranks.serial_comm import Clock, SerialComm

if TYPE_CHECKING:
    from mpi4py import MPI

T = TypeVar("T")
Place: TypeAlias = int | None
"""Barrier at which ranks wait: that of a workload, or of all."""
RoundMessage: TypeAlias = tuple[int, int, int | None]
"""Message of the load engine about a round of simultaneous operations."""
RoundAnswer: TypeAlias = tuple[int, tuple[int, RoundMessage]]
"""A workload, and a message of its round keeper: the sender, and the message."""

SHORTEST_S, LONGEST_S = 20e-6, 2e-3
"""Shortest and longest pause, in seconds, between two polls for messages."""
ROUNDS = 20
"""Messages there and back by which a clock is compared; the quickest counts."""
WRONG_INPUT = 2
"""The exit status of a command whose input was wrong."""
AGAIN_S = 1.0
"""A second Ctrl-C so long after the first does not wait for the others. Launchers and terminals
may send one and the same several times."""


class MpiComm(SerialComm):
    """One of several ranks. All ranks call its public methods, in the same order."""

    def __init__(self, communicator: "MPI.Intracomm") -> None:
        super().__init__()
        self.number = self.rank = communicator.Get_rank()
        self.total = self.size = communicator.Get_size()
        self._communicator = communicator
        self._members: Sequence[int] = range(self.total)
        self._hosts: dict[str, list[int]] = {}
        self._sent: list[MPI.Request] = []
        # At the first rank: what came from each, who waits where, and who has left.
        self._parts: list[deque[Any]] = [deque() for _ in range(self.total)]
        self._here: Counter[Place] = Counter()
        self._farthest: dict[Place, int] = {}
        self._keepers: list[RoundKeeper] = []
        self._expected: Sequence[int] = ()
        self._pong: float | None = None
        self._left: dict[int, tuple[int, str, str]] = {}
        self._stop_sent = False
        # At the others: what the first one sent.
        self._all: deque[Any] = deque()
        self._compared = False
        # At all.
        self._stopped = False
        self._opened: list[tuple[Place, int]] = []
        self._heard: list[RoundAnswer] = []
        self._waiting = 0
        self._clocks: list[Clock] = []
        self._interrupted_at: float | None = None
        self._interrupted = False
        self._said = io.StringIO()
        if not self.first:
            # The first one speaks for all.
            sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
            sys.stderr = self._said
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._interrupt)

    # Methods for commands.

    def gather(self, value: Any, *, early: bool = False) -> list[Any] | None:
        if not self.first:
            self._send(0, "part", (early, value))
            return None
        self._parts[0].append(value)
        if early:
            self._stop_all()
        self._wait(lambda: all(self._parts[member] for member in self._members), relay=True)
        # All barrier messages arrived before the parts, and no rank continues before this
        # returns: the state of the measurement can be reset.
        self._here.clear()
        self._farthest.clear()
        self._forget()
        self._stopped = self._stop_sent = False
        return [self._parts[member].popleft() for member in self._members]

    def broadcast(self, value: Any) -> Any:
        if self.first:
            for rank in self._members[1:]:
                self._send(rank, "all", value)
            return value
        self._wait(lambda: bool(self._all))
        return self._all.popleft()

    def run_on_all(self, work: Callable[[], T]) -> T:
        done: T | None = None
        error: Exception | None = None
        try:
            done = work()
        except Exception as raised:
            error = raised
        wrong = self.gather(None if error is None else (self.name(), error))
        verdict = self.broadcast(wrong and first_error([it for it in wrong if it], self.size))
        if verdict is not None:
            raise verdict
        return done  # type: ignore[return-value]

    def hosts(self) -> dict[str, list[int]]:
        if not self._hosts:
            ranks: dict[str, list[int]] = {}
            for rank, host in enumerate(self.broadcast(self.gather(self.host))):
                ranks.setdefault(host, []).append(rank)
            self._hosts = ranks
        return self._hosts

    def on_hosts(self, count: int, work: Callable[[], T]) -> T:
        of_each = list(self.hosts().values())[:count]
        members = sorted(rank for of_it in of_each for rank in of_it)
        if self.number not in members:
            self._wait(lambda: bool(self._all), idle=True)
            done, error = self._all.popleft()
        else:
            done, error = self._work_of(members, work)
            for rank in range(self.total) if self.first else ():
                if rank not in members:
                    self._send(rank, "all", (done, error))
        if error is not None:
            raise error
        return done  # type: ignore[no-any-return]

    def duplicate(self) -> "MPI.Intracomm":
        return self._communicator.Dup()

    def take_interrupt(self) -> bool:
        was, self._interrupted = self._interrupted, False
        return was

    def _work_of(
        self, members: Sequence[int], work: Callable[[], T]
    ) -> tuple[T | None, BaseException | None]:
        """Run work while the other ranks are idle; return its result or its exception."""
        self._take_part(members)
        try:
            return work(), None
        except (Exception, KeyboardInterrupt) as error:
            return None, error
        finally:
            self._take_part(range(self.total))

    def _take_part(self, members: Sequence[int]) -> None:
        self._members = members
        self.rank, self.size = members.index(self.number), len(members)

    def begin(self, expected: Sequence[int]) -> None:
        self._expected = expected
        if self.first:
            self._keepers = [RoundKeeper(ranks) for ranks in expected]
            self._clocks = [Clock(0.0, 0.0)]
            self._clocks += [self._compare(rank) for rank in self._members[1:]]
        else:
            self._compared = False
            self._wait(lambda: self._compared)

    def clocks(self) -> list[Clock]:
        return self._clocks

    def leave(self, status: int) -> int:
        said = self._said.getvalue()
        if not self.first:
            self._send(0, "left", (status, self.name(), said))
            self._wait(lambda: 0 in self._left, alone=True)
            return max(status, self._left[0][0])
        for rank in range(1, self.total):
            self._send(rank, "left", (status, self.name(), ""))
        self._wait(lambda: len(self._left) == self.total - 1, alone=True)
        for rank in sorted(self._left):
            other, name, said = self._left[rank]
            if status == 0 and other != 0:
                for line in said.splitlines():
                    print(f"{name}: {line}", file=sys.stderr)
                status = other
        return status

    # Methods that the load engine calls during a measurement.

    def come(self, place: Place, farthest: int) -> None:
        """All processes of this rank wait at a place. One has come `farthest` in its phase."""
        self._waiting += 1
        if self.first:
            self._arrived(place, farthest)
        else:
            self._send(0, "come", (place, farthest))

    def _arrived(self, place: Place, farthest: int) -> None:
        self._here[place] += 1
        self._farthest[place] = max(self._farthest.get(place, 0), farthest)

    def say(self, workload: int, message: RoundMessage) -> None:
        """Something about the rounds of a workload, to all."""
        if self.first:
            self._keep(self.number, workload, message)
        else:
            self._send(0, "say", (workload, message))

    def look(self) -> tuple[list[tuple[Place, int]], list[RoundAnswer], bool]:
        """Return the barriers that have opened with how far any process has come, the messages
        about rounds, and whether to poll again soon.

        Raises KeyboardInterrupt if the user, or another rank, has stopped the measurement.
        """
        self._receive()
        if self._interrupted:
            self._interrupted = False
            raise KeyboardInterrupt
        if self.first:
            if self._stopped:
                self._stop_all()
            for place, here in list(self._here.items()):
                if here == (self.size if place is None else self._expected[place]):
                    del self._here[place]
                    barrier = (place, self._farthest.pop(place, 0))
                    self._opened.append(barrier)
                    for rank in self._members[1:]:
                        self._send(rank, "open", barrier)
        if self._stopped:
            raise KeyboardInterrupt
        opened, self._opened = self._opened, []
        heard, self._heard = self._heard, []
        self._waiting -= min(len(opened), self._waiting)
        return opened, heard, self._waiting > 0 or bool(self._here)

    # Messages.

    def _send(self, rank: int, kind: str, value: Any) -> None:
        self._sent = [request for request in self._sent if not request.Test()]
        self._sent.append(self._communicator.isend((kind, value), dest=rank))

    def _receive(self) -> bool:
        """Receive all pending messages; return whether there were any."""
        from mpi4py import MPI

        status, any_came = MPI.Status(), False

        def there() -> bool:
            return self._communicator.iprobe(status=status)

        # The first probe may only take in what the second one finds (MPICH 4 and 5).
        while there() or there():
            source = status.Get_source()
            kind, value = self._communicator.recv(source=source)
            self._on(source, kind, value)
            any_came = True
        return any_came

    def _on(self, source: int, kind: str, value: Any) -> None:
        match kind:
            case "part":
                early, part = value
                self._parts[source].append(part)
                self._stopped = self._stopped or early
            case "come":
                self._arrived(*value)
            case "open":
                self._opened.append(value)
            case "say":
                self._keep(source, *value)
            case "told":
                self._heard.append(value)
            case "all":
                # Messages about the earlier measurement are obsolete.
                self._stopped = False
                self._forget()
                self._all.append(value)
            case "stop":
                self._stopped = True
            case "interrupt":
                # Treat it as a local signal, so that the next measurement stops as well.
                self._interrupted = True
            case "ping":
                self._send(0, "pong", time.monotonic())
            case "pong":
                self._pong = value
            case "compared":
                self._compared = True
            case "left":
                self._left[source] = value
                self._stopped = True

    def _keep(self, source: int, workload: int, message: RoundMessage) -> None:
        """Send all ranks the answers to a message about rounds. It runs on the first rank, so that
        all ranks get them in one order."""
        for answer in self._keepers[workload].hear(self._members.index(source), message):
            self._heard.append((workload, answer))
            for rank in self._members[1:]:
                self._send(rank, "told", (workload, answer))

    def _forget(self) -> None:
        """Discard the messages of a measurement that has ended."""
        self._opened.clear()
        self._heard.clear()
        self._waiting = 0

    def _stop_all(self) -> None:
        """Stop the measurements of all other ranks, once."""
        if not self._stop_sent:
            self._stop_sent = True
            for rank in self._members[1:]:
                self._send(rank, "stop", None)

    def _wait(
        self,
        there: Callable[[], bool],
        *,
        relay: bool = False,
        alone: bool = False,
        idle: bool = False,
    ) -> None:
        """Wait for messages. Raises the error of a rank that has left, unless `alone`. An idle rank
        passes Ctrl-C on to the first rank."""
        pause = SHORTEST_S
        while True:
            if self._receive():
                pause = SHORTEST_S
            if there():
                return
            if relay and self._stopped:
                self._stop_all()
            if self._left and not alone:
                raise self._gone()
            if idle and self._interrupted:
                self._interrupted = False
                self._send(0, "interrupt", None)
            time.sleep(pause)
            pause = min(pause * 1.2, LONGEST_S)

    def _gone(self) -> Exception:
        status, name, said = self._left[min(self._left)]
        kind = ValueError if status == WRONG_INPUT else RunError
        return kind(f"{name}: {' '.join(said.split()) or 'it has ended'}")

    def _compare(self, rank: int) -> Clock:
        """Return the offset of a rank's clock to this one's."""
        best = Clock(0.0, float("inf"))
        for _ in range(ROUNDS):
            self._pong = None
            before = time.monotonic()
            self._send(rank, "ping", None)
            self._wait(lambda: self._pong is not None)
            after = time.monotonic()
            half = (after - before) / 2
            if self._pong is not None and half < best.uncertainty_s:
                best = Clock(self._pong - (before + half), half)
        self._send(rank, "compared", None)
        return best

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        """Stop the measurement; a later signal ends the program at once."""
        now = time.monotonic()
        if self._interrupted_at is not None and now - self._interrupted_at > AGAIN_S:
            raise KeyboardInterrupt
        self._interrupted_at = self._interrupted_at or now
        self._interrupted = True


def first_error(wrong: list[tuple[str, BaseException]], size: int) -> BaseException | None:
    """The error that all ranks raise of those that some did, each with its name."""
    if not wrong:
        return None
    # Some are interrupted because others have failed.
    wrong.sort(key=lambda pair: isinstance(pair[1], KeyboardInterrupt))
    name, error = wrong[0]
    if (
        isinstance(error, KeyboardInterrupt)
        or sum(str(other) == str(error) for _, other in wrong) == size
    ):
        return error
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}"
    # A name that leads nowhere is wrong input, as with one process.
    wrong_name = (FileNotFoundError, NotADirectoryError, PermissionError)
    kind = ValueError if isinstance(error, (ValueError, *wrong_name)) else RunError
    return kind(f"{name}: {text}")
