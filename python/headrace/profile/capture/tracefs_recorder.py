"""Run or watch a program and record its system calls through tracefs.

    python -m headrace.profile.capture.tracefs_recorder -o TRACE (-p PID,... | -- COMMAND...)

While the program runs, the kernel's pages are copied to files as they are. They are read when it
has ended, and written in strace's format, whose reader knows descriptors, positions and threads.
"""

import argparse
import contextlib
import json
import os
import re
import select
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import psutil

from headrace.files import atomic_file
from headrace.kernel_trace import Format, Instance, KernelTraceError, records
from headrace.profile.capture.tracefs import COUNTS
from headrace.profile.capture.tracefs_text import CALLS, Open, Source, write_text

DRAIN_S = 0.02
"""Time between two readings of the buffer, which holds some seconds of the fastest calls."""
PAGE_KIB = 64
"""Size of the buffer's pages, where it can be chosen: fewer calls to read it."""
NAMES_BUFFER = 8 << 20
OPENS = ("openat", "open", "creat", "openat2")


class Names:
    """Finds the names of files as they are opened, in a thread of its own."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._header = instance.page_header()
        self._size = instance.page_size()
        self._formats: dict[int, tuple[str, bool, Format]] = {}
        for format in instance.formats.values():
            _, end, call = format.name.split("_", 2)
            self._formats[format.number] = call, end == "enter", format
        self._entered: dict[int, tuple[int, int]] = {}
        self.opens: list[Open] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="names", daemon=True)
        self._thread.start()

    def finish(self) -> list[Open]:
        """Return all files that were opened."""
        self._over.set()
        self._thread.join()
        return self.opens

    def _watch(self) -> None:
        files = [os.open(pipe, os.O_RDONLY | os.O_NONBLOCK) for pipe in self._instance.pipes()]
        poll = select.poll()
        for file in files:
            poll.register(file, select.POLLIN)
        try:
            while not self._over.is_set():
                poll.poll(DRAIN_S * 1000)
                self._read(files)
            self._read(files)
        finally:
            for file in files:
                os.close(file)

    def _read(self, files: Sequence[int]) -> None:
        for file in files:
            while page := _page(file, self._size):
                parsed = records([page], self._header)
                for time_ns, offset in zip(parsed.times, parsed.offsets, strict=True):
                    self._take(int(time_ns), page, int(offset))

    def _take(self, time_ns: int, page: bytes, at: int) -> None:
        known = self._formats.get(int.from_bytes(page[at : at + 2], sys.byteorder))
        if known is None:
            return
        call, enters, format = known
        fields = {
            one.name: int.from_bytes(
                page[at + one.offset : at + one.end], sys.byteorder, signed=one.kind == "signed"
            )
            for one in format.fields
        }
        thread = fields["common_pid"]
        if enters:
            self._entered[thread] = time_ns, fields.get("flags", CREAT if call == "creat" else 0)
            return
        entered = self._entered.pop(thread, None)
        if entered is None:
            return
        result = fields["ret"]
        name = None
        if result >= 0:
            with contextlib.suppress(OSError):
                name = os.readlink(f"/proc/{thread}/fd/{result}")
        self.opens.append(
            Open(thread, entered[0], time_ns, result, entered[1], name, time.monotonic_ns())
        )


CREAT = os.O_CREAT | os.O_WRONLY | os.O_TRUNC


def _page(file: int, size: int) -> bytes:
    try:
        return os.read(file, size)
    except BlockingIOError:
        return b""


class Recorder:
    """Records processes and those that they start."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = contextlib.ExitStack()
        self._calls = self._stack.enter_context(Instance())
        with contextlib.suppress(OSError):
            (self._calls.path / "buffer_subbuf_size_kb").write_text(str(PAGE_KIB))
        self._names_instance = self._stack.enter_context(Instance(buffer=NAMES_BUFFER))
        with contextlib.suppress(OSError):
            # The thread that finds names wakes up at each open.
            (self._names_instance.path / "buffer_percent").write_text("0")
        ends = ("enter", "exit")
        self._calls.enable(
            dict.fromkeys(
                ["task/task_newtask"] + [f"syscalls/sys_{end}_{it}" for it in CALLS for end in ends]
            )
        )
        self._names_instance.enable(
            dict.fromkeys(f"syscalls/sys_{end}_{name}" for name in OPENS for end in ends)
        )
        self._pipes = [
            (os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), folder / f"{number}.pages")
            for number, pipe in enumerate(self._calls.pipes())
        ]
        self._files = [path.open("wb") for _, path in self._pipes]
        self._size = self._calls.page_size()
        self._inherited: dict[int, str] = {}
        self._ambiguous: set[int] = set()
        self._names: Names | None = None
        self.epoch_ns = time.time_ns() - time.monotonic_ns()

    def start(self, processes: Sequence[int], threads: Sequence[int], *, new: bool) -> None:
        """Record these threads, and what they start from now on. `new` ones are about to execute
        another program."""
        self._inherit(processes, new)
        self._names = Names(self._names_instance)
        for instance in (self._calls, self._names_instance):
            instance.follow(threads)
            instance.start()

    def follow(self, processes: Sequence[int]) -> None:
        """Record further processes that run, and what they start from now on."""
        self._inherit(processes, False)
        for instance in (self._calls, self._names_instance):
            instance.follow_also(_threads(processes))

    def _inherit(self, processes: Sequence[int], new: bool) -> None:
        """Add the names of their open files. A descriptor that is another file elsewhere has no
        name."""
        for process in processes:
            for number, name in _descriptors(process, new).items():
                if self._inherited.setdefault(number, name) != name:
                    self._ambiguous.add(number)

    def drain(self) -> None:
        """Copy what the kernel has recorded."""
        for (pipe, _), file in zip(self._pipes, self._files, strict=True):
            while page := _page(pipe, self._size):
                # A page that was not full is read short.
                file.write(len(page).to_bytes(4, sys.byteorder) + page)

    def finish(self, target: Path) -> dict[str, int]:
        """Stop, write the trace, and return the counts of events lost and names not found."""
        for instance in (self._calls, self._names_instance):
            instance.stop()
        self.drain()
        for file in self._files:
            file.close()
        assert self._names is not None
        opens = self._names.finish()
        lost = self._calls.lost() + self._names_instance.lost()
        source = Source(
            pages=[path for _, path in self._pipes],
            header=self._calls.page_header(),
            formats=list(self._calls.formats.values()),
            opens=opens,
            inherited={
                key: name for key, name in self._inherited.items() if key not in self._ambiguous
            },
            epoch_ns=self.epoch_ns,
        )
        with atomic_file(target) as partial, partial.open("w", encoding="utf-8") as out:
            unresolved = write_text(source, out)
        files = sum(each.result >= 0 for each in opens)
        return {"events_lost": lost, "files_opened": files, "names_not_found": unresolved}

    def close(self) -> None:
        """Remove the instances."""
        if self._names is not None:
            self._names.finish()
        for pipe, _ in self._pipes:
            os.close(pipe)
        self._stack.close()


def _descriptors(process: int, new: bool) -> dict[int, str]:
    """Names of a process's open files, by descriptor; for a new program, of those that it keeps."""
    names = {}
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{process}/fd"):
            with contextlib.suppress(OSError):
                info = Path(f"/proc/{process}/fdinfo/{name}").read_text(encoding="ascii")
                flags = re.search(r"^flags:\s*([0-7]+)", info, re.MULTILINE)
                if not (new and flags and int(flags[1], 8) & os.O_CLOEXEC):
                    names[int(name)] = os.readlink(f"/proc/{process}/fd/{name}")
    return names


def _start(command: Sequence[str], ready: int) -> int:
    """Fork; the child runs the command when `ready` can be read."""
    child = os.fork()
    if child:
        return child
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        if os.read(ready, 1):
            os.execvp(command[0], list(command))
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)
    finally:
        os._exit(125)


def main(arguments: Sequence[str] | None = None) -> int:
    """Record; return the program's exit status."""
    parser = argparse.ArgumentParser(prog=RECORDER_NAME)
    parser.add_argument("-o", dest="target", type=Path, required=True)
    parser.add_argument("-p", dest="pids", type=_numbers)
    parser.add_argument("--more", action="store_true", help="read further numbers from stdin")
    parser.add_argument("command", nargs="*")
    given = parser.parse_args(arguments)
    if (given.pids is None) == (not given.command):
        parser.error("expected a command or -p PID,...")
    beside = given.target.absolute().parent
    over = threading.Event()
    with tempfile.TemporaryDirectory(prefix=".headrace-capture-", dir=beside) as folder:
        try:
            recorder = Recorder(Path(folder))
        except KernelTraceError as error:
            print(error, file=sys.stderr)
            return 2
        try:
            if given.pids is None:
                status = _run(recorder, given.command)
            else:
                for number in (signal.SIGINT, signal.SIGTERM):
                    signal.signal(number, lambda *_: over.set())
                _watch(recorder, given.pids, over, more=given.more)
                status = 0
            counts = recorder.finish(given.target)
        except KernelTraceError as error:
            print(error, file=sys.stderr)
            return 2
        finally:
            recorder.close()
    path = given.target.with_name(given.target.name + COUNTS)
    path.write_text(json.dumps(counts) + "\n", encoding="utf-8")
    if counts["events_lost"]:
        lost = f"{counts['events_lost']:,} events were lost: the buffer was full"
        print(f"warning: {given.target}: {lost}", file=sys.stderr)
    if status < 0:
        # End as the program did.
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


RECORDER_NAME = "tracefs_recorder"


def _run(recorder: Recorder, command: Sequence[str]) -> int:
    """Run a command; return its status, below 0 for a signal."""
    ready, go = os.pipe()
    child = _start(command, ready)
    # Signals of the terminal reach the child too; others are passed on.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, _: os.kill(child, number))
    recorder.start([child], [child], new=True)
    os.write(go, b"x")
    while True:
        recorder.drain()
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(DRAIN_S)


def _watch(recorder: Recorder, pids: Sequence[int], over: threading.Event, *, more: bool) -> None:
    """Watch processes until they end or `over` is set; with `more`, until standard input ends."""
    roots = _running(pids)
    if not roots:
        numbers = ",".join(map(str, pids))
        raise SystemExit(f"-p {numbers}: no such process: expected one that runs")
    processes = [one.pid for root in roots for one in (root, *root.children(recursive=True))]
    recorder.start(processes, _threads(processes), new=False)
    if more:
        print("recording", flush=True)
        _serve(recorder, over)
        return
    while any(_runs(root) for root in roots) and not over.is_set():
        recorder.drain()
        over.wait(DRAIN_S)


def _serve(recorder: Recorder, over: threading.Event) -> None:
    """Record, and take further processes from standard input until it ends."""
    poll = select.poll()
    poll.register(0, select.POLLIN)
    text = b""
    while not over.is_set():
        recorder.drain()
        if not poll.poll(DRAIN_S * 1000):
            continue
        if not (part := os.read(0, 1 << 16)):
            return
        *lines, text = (text + part).split(b"\n")
        for line in lines:
            if running := [process.pid for process in _running(map(int, line.split()))]:
                try:
                    recorder.follow(running)
                except KernelTraceError as error:
                    print(error, file=sys.stderr)


def _running(pids: Iterable[int]) -> list[psutil.Process]:
    processes = []
    for pid in pids:
        with contextlib.suppress(psutil.Error):
            processes.append(psutil.Process(pid))
    return processes


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _threads(processes: Iterable[int]) -> list[int]:
    numbers: list[int] = []
    for process in _running(processes):
        with contextlib.suppress(psutil.Error):
            numbers += [thread.id for thread in process.threads()]
    return numbers


def _numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",")]


if __name__ == "__main__":
    sys.exit(main())
