"""Small scenarios, run at once: outside the server's process, under limits.

Helper processes wait with everything loaded, so that a small scenario is answered in some
milliseconds. One that takes too long or too much memory is killed and replaced.
"""

import asyncio
import contextlib
import json
import math
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec
import psutil

from headrace import confined
from headrace.confined import Confinement
from headrace.web.quick_worker import QuickAnswer, QuickError, QuickRequest
from headrace.web.settings import GIB

__all__ = ["QuickAnswer", "QuickError", "QuickRuns", "Work"]

Work = Literal["check", "run", "net", "net-check", "net-run", "net-play", "calculate"]

LARGEST_TEXT = 1 << 20
"""Characters of a scenario at the most."""
LONGEST_LINE = 256 << 20
"""Bytes of an answer at the most."""
SIGNALS, SIGNAL_S = 20, 0.05
"""Number of signals to a superseded request, and seconds between them, before its process is
killed."""
START_S = 60.0
"""Time that a process may take to start."""
MOST_WAITING = 64
"""Requests that may wait."""
LONGEST_WAITS, LEAST_WAIT_S = 6, 0.1
"""How often a request is looked at before it is given up, and the least time between."""
REQUESTS_OF_PROCESS = 500
"""Requests after which a process is replaced, so that what it leaked goes."""


@dataclass(eq=False)
class _Helper:
    process: asyncio.subprocess.Process
    served: int = 0

    async def ask(self, request: QuickRequest) -> QuickAnswer:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(msgspec.json.encode(request) + b"\n")
        await self.process.stdin.drain()
        self.served += 1
        line = await self.process.stdout.readline()
        if not line:
            raise EOFError
        # Python's own decoder takes infinite numbers, which a result may have.
        return msgspec.convert(json.loads(line), QuickAnswer)

    def used_s(self) -> float:
        """Return the processor time that it has used, in seconds."""
        try:
            times = psutil.Process(self.process.pid).cpu_times()
        except psutil.Error:
            return math.inf
        return float(times.user + times.system)

    async def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()


@dataclass(eq=False)
class _Ticket:
    """A request of a page, which a newer one supersedes."""

    superseded: bool = False
    stopping: "asyncio.Task[None] | None" = None
    helper: _Helper | None = None

    def begin(self, helper: _Helper) -> None:
        self.helper = helper
        if self.superseded:
            self.supersede()

    def supersede(self) -> None:
        self.superseded = True
        if self.helper is not None and self.stopping is None:
            self.stopping = asyncio.get_running_loop().create_task(self._stop(self.helper))

    async def _stop(self, helper: _Helper) -> None:
        # Several times: the process ignores it until it has read the request.
        for _ in range(SIGNALS):
            with contextlib.suppress(ProcessLookupError):
                helper.process.send_signal(signal.SIGINT)
            await asyncio.sleep(SIGNAL_S)
        await helper.kill()

    def end(self) -> None:
        self.helper = None
        if self.stopping is not None:
            self.stopping.cancel()


class QuickRuns:
    """A pool of helper processes. All methods belong to one event loop."""

    def __init__(
        self,
        *,
        processes: int = 2,
        seconds: float = 5.0,
        memory: int = 2 * GIB,
        directories: Sequence[Path] = (),
    ) -> None:
        """Make a pool; its processes start with the requests, the first one also by `start`.

        Parameters:
            processes: Number of helper processes.
            seconds: Processor time of each request. On a busy machine it may take longer.
            memory: Address space of each process in bytes.
            directories: Directories whose files scenarios may read.
        """
        self._processes, self._seconds, self._memory = processes, seconds, memory
        # Where they look for files that are named without a folder.
        self._empty = tempfile.TemporaryDirectory(prefix="headrace-quick-")
        here = str(Path(self._empty.name).resolve())
        allowed = tuple(map(str, directories))
        self._confinement = Confinement(
            readable=allowed, writable=(here,), documents=(here, *allowed)
        )
        self._free: asyncio.Queue[_Helper | None] = asyncio.Queue()
        self._helpers: set[_Helper] = set()
        self._tickets: dict[str, _Ticket] = {}
        self._closed = False
        self._begun = 0
        """Processes that run or start."""
        self._waiting = 0
        self._numbers = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Start a helper process; others start when all are busy."""
        if self._begun == 0:
            self._begin()

    def _begin(self) -> None:
        self._begun += 1
        self._replace(None)

    async def close(self) -> None:
        """End the helper processes."""
        self._closed = True
        for task in tuple(self._tasks):
            task.cancel()
        for helper in tuple(self._helpers):
            await helper.kill()
        self._empty.cleanup()

    async def ask(
        self, work: Work, text: str, sets: Sequence[str] = (), *, page: str | None = None
    ) -> QuickAnswer:
        """Answer a request about a scenario.

        Parameters:
            work: `check` gives the complete scenario and its quantities, `run` the document of a
                run, `net` the drawn net. `net-check`, `net-run` and `net-play` are about a net of
                one's own. `calculate` gives the figures of a calculation.
            text: The scenario, the net, or the calculation as JSON.
            sets: Settings in the command line's form, `path=value`.
            page: What asks. A newer request of the same page and work supersedes this one.
        """
        if len(text) > LARGEST_TEXT:
            return _failed("the scenario is longer than 1 MiB: expected a shorter one")
        if self._waiting >= MOST_WAITING:
            return _failed("the server answers too many requests already: try again in a moment")
        self.start()
        if self._free.empty() and self._begun < self._processes:
            self._begin()
        ticket, key = _Ticket(), None if page is None else f"{work} {page}"
        if key is not None:
            if key in self._tickets:
                self._tickets[key].supersede()
            self._tickets[key] = ticket
        self._waiting += 1
        try:
            helper = await self._free.get()
        finally:
            self._waiting -= 1
        try:
            if ticket.superseded or helper is None:
                if helper is not None:
                    self._free.put_nowait(helper)
                else:
                    self._replace(None)
                return QuickAnswer() if ticket.superseded else _failed(_ENDED)
            return await self._answer(ticket, helper, work, text, sets)
        finally:
            if key is not None and self._tickets.get(key) is ticket:
                del self._tickets[key]

    async def _answer(
        self, ticket: _Ticket, helper: _Helper, work: Work, text: str, sets: Sequence[str]
    ) -> QuickAnswer:
        ticket.begin(helper)
        self._numbers += 1
        request = QuickRequest(self._numbers, work, text, tuple(sets))
        good = False
        try:
            answer = await self._within_limit(helper, request)
            good = True
        except TimeoutError:
            if work == "calculate":
                return _failed(
                    f"it takes longer than {self._seconds:g} s: run it with headrace design"
                )
            if work.startswith("net-"):
                return _failed(
                    f"the net takes longer than {self._seconds:g} s: shorten it (run.until), or run"
                    " it with headrace net run"
                )
            return _failed(
                f"the scenario takes longer than {self._seconds:g} s: run it as a job, or shorten"
                " it (run.stop.time)"
            )
        except (EOFError, OSError, ValueError):
            return QuickAnswer() if ticket.superseded else _failed(_ENDED)
        finally:
            ticket.end()
            if good and helper.served < REQUESTS_OF_PROCESS:
                self._free.put_nowait(helper)
            else:
                self._replace(helper)
        return QuickAnswer() if ticket.superseded else answer

    async def _within_limit(self, helper: _Helper, request: QuickRequest) -> QuickAnswer:
        """Return the answer to a request. Raises TimeoutError if it takes too long."""
        before, left = helper.used_s(), self._seconds
        asking = asyncio.ensure_future(helper.ask(request))
        try:
            for _ in range(LONGEST_WAITS):
                answered, _ = await asyncio.wait({asking}, timeout=left)
                if answered:
                    return asking.result()
                left = self._seconds - (helper.used_s() - before)
                if left <= 0:
                    break
                left = max(left, LEAST_WAIT_S)
            raise TimeoutError
        finally:
            asking.cancel()

    def _replace(self, helper: _Helper | None) -> None:
        if self._closed:
            return
        task = asyncio.get_running_loop().create_task(self._start(helper))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _start(self, old: _Helper | None) -> None:
        if old is not None:
            self._helpers.discard(old)
            await old.kill()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", confined.__name__),
            msgspec.json.encode(self._confinement).decode(),
            "headrace.web.quick_worker",
            str(self._memory),
            str(self._seconds),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=LONGEST_LINE,
            cwd=self._empty.name,
            # Few threads: each would reserve address space of its own.
            env=os.environ | {"POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            start_new_session=True,
        )
        helper = _Helper(process)
        self._helpers.add(helper)
        assert process.stdout is not None
        with contextlib.suppress(TimeoutError):
            if await asyncio.wait_for(process.stdout.readline(), START_S):
                self._free.put_nowait(helper)
                return
        # One request fails, and tries to start the next.
        self._helpers.discard(helper)
        await helper.kill()
        self._free.put_nowait(None)


_ENDED = (
    "the process of the quick run ended, as it needs more memory than it may have: run it as a job,"
    " or shrink it"
)


def _failed(message: str) -> QuickAnswer:
    return QuickAnswer(error=QuickError(message))
