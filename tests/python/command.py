"""The real command in a process of its own, without what imports take each time.

Most of what a short command takes is Python importing libraries. A process that has imported
them is started once by each worker of the tests and divides itself for each command: its copy
gets the arguments, directory, environment and streams of that command, and calls what
`python -m headrace` calls.

Three quarters of a short command would then be the end of Python, which writes to each object
that the copy shares with its parent. The first command of each kind ends that way, so
that an error or a hang at the end is seen; it also uses the store as it is. All others run what
such an end runs (threads, `atexit`, flushes), leave the memory to the system, and use the store
of the tests (`quick_store.py`). Tests of the start itself, of signals and of streams
that are closed start `python -m headrace`.
"""

import array
import atexit
import contextlib
import functools
import gc
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import quick_store

PROGRESS = re.compile(
    r"^[^\n]*: [\d,]+ s: [^\n]*(?: steps done[^\n]*| simulated, [\d,]+ requests"
    r"|beginning|[\d,]+ records| operations, [\d,]+ MB| files and directories removed)\n",
    re.MULTILINE,
)
"""Lines of progress, which commands write on a slow machine only."""

NEED = re.compile(
    r"^[^\n]*: up to [^\n]* in [\d,]+ files?, of [^\n]* allowed [^\n]* a second(?:; [^\n]*)?\n",
    re.MULTILINE,
)
"""The line in which a benchmark states its space and time."""

IMPORTED = (
    "alembic.command",
    "headrace.cli.app",
    "headrace.cli.baseline",
    "headrace.cli.bench",
    "headrace.cli.design",
    "headrace.cli.net",
    "headrace.cli.profile",
    "headrace.cli.results",
    "headrace.cli.run_scenario",
    "headrace.cli.sweep",
    "headrace.cli.trace",
    "headrace.cli.validate",
    "headrace.cli.whatif",
    "headrace.parquet",
    "headrace.render.pictures",
    "headrace.views.simulated",
    "headrace.simulate.runs",
    "headrace.simulate.saved_results",
    "headrace.sweeps.whatifs",
    "headrace.store.catalogue",
    "headrace.store.migration",
    "headrace.store.queries",
    "headrace.validate",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "numpy",
    "rich.progress",
    "sqlalchemy.dialects.sqlite.pysqlite",
    "typer._adapters",
)
"""What most commands import. Only imports: a library that had worked before the division may
have threads, which a copy has not."""
WHOLE_ENDINGS = 1
"""Commands of a kind, by each worker, that end as Python itself does."""


def without_need(stderr: str) -> str:
    """Return what a benchmark wrote beside the lines that state its space and time."""
    return NEED.sub("", stderr)


def command(
    *arguments: object,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout: float = 120,
) -> "subprocess.CompletedProcess[str]":
    """Runs `headrace ARGUMENTS`, as `subprocess.run` does with `capture_output` and `text`."""
    with _ONE_AT_A_TIME:
        try:
            return _command(_divided(), arguments, env, cwd, timeout)
        except subprocess.TimeoutExpired:
            raise
        except BaseException:
            # Answers that nobody took would be taken for the next command's.
            _divided().close()
            _divided.cache_clear()
            raise


_ONE_AT_A_TIME = threading.Lock()


def _command(
    divided: socket.socket,
    arguments: tuple[object, ...],
    env: Mapping[str, str] | None,
    cwd: Path | None,
    timeout: float,
) -> "subprocess.CompletedProcess[str]":
    words = list(map(str, arguments))
    environment = dict(os.environ if env is None else env)
    where = str((cwd or Path.cwd()).resolve(strict=True))
    schema = quick_store.statements_to_use()
    request = json.dumps(
        {"arguments": words, "env": environment, "cwd": where, "schema": schema}
    ).encode()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        handed_over = array.array("i", [out.fileno(), err.fileno()])
        divided.sendmsg(
            [len(request).to_bytes(8, "little")],
            [(socket.SOL_SOCKET, socket.SCM_RIGHTS, handed_over)],
        )
        divided.sendall(request)
        process = _number(divided)
        divided.settimeout(timeout)
        try:
            status = _number(divided)
        except TimeoutError:
            os.kill(process, signal.SIGKILL)
            divided.settimeout(None)
            _number(divided)
            raise subprocess.TimeoutExpired(["headrace", *words], timeout) from None
        divided.settimeout(None)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(io.TextIOWrapper(file).read())
    output, errors = texts
    errors = PROGRESS.sub("", errors)
    return subprocess.CompletedProcess(["headrace", *words], status, output, errors)


@functools.cache
def _divided() -> socket.socket:
    """The connection to the process that divides itself; it ends with this process."""
    here, there = socket.socketpair()
    process = subprocess.Popen(
        [sys.executable, __file__, str(there.fileno())],
        pass_fds=[there.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        # NumPy would start threads as it is imported.
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    there.close()

    def end() -> None:
        here.close()
        process.wait()

    atexit.register(end)
    return here


def _number(connection: socket.socket) -> int:
    return int.from_bytes(_received(connection, 8), "little", signed=True)


def _received(connection: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        more = connection.recv(size - len(found))
        if not more:
            raise EOFError
        found += more
    return found


def _serve(connection: socket.socket) -> bool:
    """Divides this process for each request. Returns in the copies, as the commands: true if the
    command ends as Python itself does."""
    descriptors = array.array("i")
    seen: Counter[tuple[str, ...]] = Counter()
    while True:
        space = socket.CMSG_SPACE(2 * descriptors.itemsize)
        length, ancillary, _, _ = connection.recvmsg(8, space)
        if not length:
            os._exit(0)
        size = int.from_bytes(length + _received(connection, 8 - len(length)), "little")
        request = json.loads(_received(connection, size))
        descriptors = array.array("i", ancillary[0][2])
        kind = tuple(it for it in request["arguments"][:2] if it.isalpha())
        seen[kind] += 1
        process = os.fork()
        if process == 0:
            connection.close()
            _become(request["arguments"], request["env"], request["cwd"], *descriptors)
            if seen[kind] <= WHOLE_ENDINGS:
                return True
            if request["schema"]:
                quick_store.use(request["schema"])
            return False
        for descriptor in descriptors:
            os.close(descriptor)
        connection.sendall(process.to_bytes(8, "little", signed=True))
        _, status = os.waitpid(process, 0)
        ended = os.waitstatus_to_exitcode(status)
        connection.sendall(ended.to_bytes(8, "little", signed=True))


def _become(arguments: list[str], env: dict[str, str], cwd: str, out: int, err: int) -> None:
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    tempfile.tempdir = None
    for descriptor, stream in ((out, 1), (err, 2)):
        os.dup2(descriptor, stream)
        os.close(descriptor)
    sys.argv = ["headrace", *arguments]


def _end(status: object) -> NoReturn:
    """Ends this process as Python does, but for the objects."""
    assert isinstance(status, int)
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(status)


if __name__ == "__main__":
    # As with `python -m`; the tests' own modules are not the command's to import.
    sys.path[0] = ""
    for module in IMPORTED:
        __import__(module)
    # What is imported is no garbage: looking for some would write to all of it, and each copy
    # would have to copy what it writes to.
    gc.collect()
    gc.freeze()
    ends_whole = _serve(socket.socket(fileno=int(sys.argv[1])))
    from headrace.cli import main

    if ends_whole:
        main()
    try:
        main()
    except SystemExit as error:
        _end(error.code)
