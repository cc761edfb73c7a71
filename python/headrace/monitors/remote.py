"""Runs on the host of an agent: sent there over ssh, and given to its Python.

Needs only the standard library. The new version is made in a directory of its own beside the
present one and takes its place when it is complete. If it does not start, the present one returns.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

MARK = "headrace-agent.json"
"""File by which a directory of an agent is known."""
UNIT = "headrace-agent.service"
PATIENCE_S = 30.0


@dataclass(frozen=True)
class Settings:
    """Where the agent is, and how it runs. All but the token are saved beside it."""

    directory: str
    address: str = ""
    port: int = 0
    interval: float = 0.0
    """Seconds between samples."""
    token: str = ""


@dataclass(frozen=True)
class Answer:
    """Result of an action."""

    how: str = ""
    """How the agent runs."""
    facts: Any = None
    """The agent's facts about its host."""
    was_there: bool = False
    """True if an agent was there."""
    error: str = ""
    """Why the action failed."""


class Refused(Exception):
    """The host cannot have the agent. The text is for the user."""


def receive(directory: str) -> None:
    """Save the wheel from standard input beside the directory of the agent."""
    new = _new(_path(directory))
    try:
        _check(_path(directory))
    except Refused as error:
        sys.exit(str(error))
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(mode=0o700, parents=True)
    with (new / "headrace.whl").open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)


def install(settings: Settings) -> Answer:
    """Install and start the agent from the wheel that was received."""
    if sys.version_info < (3, 11):  # noqa: UP036 - the host's Python, which may be older.
        raise Refused(f"{sys.executable} is Python {sys.version.split()[0]}: 3.11 is needed")
    path = _path(settings.directory)
    new, old = _new(path), path.with_name(path.name + ".old")
    try:
        _make(new, settings)
        has_old = path.exists()
        _stop(path)
        shutil.rmtree(old, ignore_errors=True)
        if has_old:
            path.rename(old)
        new.rename(path)
        try:
            how = _start(path, settings)
            facts = _wait(path, settings)
        except BaseException:
            _stop(path)
            shutil.rmtree(path, ignore_errors=True)
            if has_old:
                old.rename(path)
                _start(path, Settings(**json.loads((path / MARK).read_text())))
            raise
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return Answer(how, facts)


def remove(settings: Settings) -> Answer:
    """Stop the agent and remove its directory."""
    path = _path(settings.directory)
    _check(path)
    was_there = path.exists()
    _stop(path)
    for it in (path, _new(path), path.with_name(path.name + ".old")):
        shutil.rmtree(it, ignore_errors=True)
    return Answer(was_there=was_there)


def _path(directory: str) -> Path:
    return Path(directory).expanduser().absolute()


def _new(path: Path) -> Path:
    return path.with_name(path.name + ".new")


def _check(path: Path) -> None:
    """Refuse a directory that is not an agent's."""
    if path.exists() and not (path / MARK).exists() and (path.is_file() or any(path.iterdir())):
        raise Refused(f"{path} exists and is not the directory of an agent")


def _make(new: Path, settings: Settings) -> None:
    made = subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(new / "venv")],
        capture_output=True,
        text=True,
    )
    if made.returncode != 0:
        raise Refused(f"python -m venv failed: {(made.stderr or made.stdout).strip()}")
    # The agent needs only the standard library, so that neither pip nor a network is needed.
    packages = next((new / "venv").glob("lib*/python*/site-packages"))
    with zipfile.ZipFile(new / "headrace.whl") as wheel:
        wheel.extractall(packages)
    if not (packages / "headrace" / "monitors" / "agent.py").exists():
        raise Refused("the wheel has no agent: it is of an older version of Headrace")
    (new / "headrace.whl").unlink()
    token = os.open(new / "token", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(token, "w", encoding="ascii") as file:
        file.write(settings.token + "\n")
    public = {key: it for key, it in asdict(settings).items() if key != "token"}
    (new / MARK).write_text(json.dumps(public))


def _command(path: Path, settings: Settings) -> list[str]:
    options = [f"--{it}={getattr(settings, it)}" for it in ("address", "port", "interval")]
    program = [str(path / "venv" / "bin" / "python"), "-m", "headrace.monitors.agent"]
    return [*program, *options, f"--token-file={path / 'token'}"]


def _unit(path: Path) -> Path:
    """Return the file of the unit: agents in different directories have different ones."""
    default = path == Path("~/.headrace-agent").expanduser()
    slug = "".join(it if it.isalnum() else "-" for it in str(path)).strip("-")
    name = UNIT if default else f"headrace-agent-{slug}.service"
    return Path("~/.config/systemd/user").expanduser() / name


def _systemctl(*words: str) -> bool:
    try:
        found = subprocess.run(
            ["systemctl", "--user", *words], capture_output=True, timeout=PATIENCE_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return found.returncode == 0


def _start(path: Path, settings: Settings) -> str:
    command = _command(path, settings)
    if _systemctl("show-environment"):
        words = " ".join('"' + it.replace("%", "%%").replace('"', '\\"') + '"' for it in command)
        unit = _unit(path)
        unit.parent.mkdir(parents=True, exist_ok=True)
        unit.write_text(
            "[Unit]\nDescription=Headrace agent\n\n"
            f"[Service]\nExecStart={words}\nRestart=on-failure\nRestartSec=5\n\n"
            "[Install]\nWantedBy=default.target\n"
        )
        if _systemctl("daemon-reload") and _systemctl("enable", "--now", unit.name):
            with contextlib.suppress(OSError):
                # Else it ends when its user logs out.
                subprocess.run(["loginctl", "enable-linger"], capture_output=True)
            return f"systemd --user: {unit.name}"
        unit.unlink()
    with (path / "agent.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd="/",
        )
    (path / "agent.pid").write_text(str(process.pid))
    return "a process of its own, which does not start again after a restart of the host"


def _stop(path: Path) -> None:
    unit = _unit(path)
    if unit.exists():
        _systemctl("disable", "--now", unit.name)
        unit.unlink()
        _systemctl("daemon-reload")
    try:
        number = int((path / "agent.pid").read_text())
        command = Path(f"/proc/{number}/cmdline").read_bytes()
    except (OSError, ValueError):
        return
    # Its number may be another process's by now.
    if str(path / "token").encode() not in command:
        return
    for which in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, which)
        end = time.monotonic() + 5.0
        while time.monotonic() < end:
            if _has_ended(number):
                return
            time.sleep(0.05)


def _has_ended(number: int) -> bool:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(number, os.WNOHANG)
    return not Path(f"/proc/{number}").exists()


def _wait(path: Path, settings: Settings) -> Any:
    """Wait until the agent answers, and return its facts."""
    address = settings.address
    if address in ("0.0.0.0", "::"):
        address = "127.0.0.1" if address == "0.0.0.0" else "::1"
    host = f"[{address}]" if ":" in address else address
    request = urllib.request.Request(
        f"http://{host}:{settings.port}/host",
        headers={"Authorization": f"Bearer {(path / 'token').read_text().strip()}"},
    )
    without_proxy = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            with without_proxy.open(request, timeout=5) as answer:
                return json.load(answer)
        except (OSError, ValueError) as error:
            log = path / "agent.log"
            said = log.read_text(errors="replace").strip() if log.exists() else ""
            if time.monotonic() > end or said.startswith("headrace agent:"):
                raise Refused(f"the agent does not answer: {said or error}") from None
        time.sleep(0.2)


def run(action: str, settings: Settings) -> None:
    """Do an action and print its result as JSON."""
    try:
        result = {"install": install, "remove": remove}[action](settings)
    except (Refused, OSError, zipfile.BadZipFile) as error:
        result = Answer(error=str(error))
    print(json.dumps(asdict(result)), flush=True)
