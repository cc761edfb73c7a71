"""Installing the agent on another host over ssh."""

import dataclasses
import importlib.util
import json
import secrets
import shlex
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from headrace.fields import convert
from headrace.monitors import remote
from headrace.monitors.agent import read_token

DIST = Path(__file__).parents[3] / "dist"
"""Where `make dist` puts the wheel."""
MOST_OUTPUT = 2000
"""Characters of ssh's messages that are shown."""


class Installed(NamedTuple):
    """An agent that runs on another host."""

    url: str
    token_file: Path
    facts: Mapping[str, Any]


class Installation:
    """The agent on a host."""

    def __init__(self, host: str, ssh: str, directory: str) -> None:
        """Name the host.

        Parameters:
            host: As ssh knows it, such as root@node1.
            ssh: The ssh command with its options. It asks for passwords itself, if it needs any.
            directory: Directory on the host.

        Raises:
            ValueError: if the host's name looks like an option.
        """
        if not host or host.startswith("-"):
            raise ValueError(f"{host!r}: expected a host such as root@node1")
        self._host, self._ssh, self._directory = host, shlex.split(ssh), directory
        self.short_name = host.rpartition("@")[2]

    def install(
        self,
        wheel: Path,
        python: str,
        address: str,
        port: int,
        interval_s: float,
        token_file: Path,
        *,
        on_step: Callable[[str], None] = lambda text: None,
    ) -> Installed:
        """Install and start the agent, or replace the one that is there.

        Parameters:
            wheel: Wheel of Headrace.
            python: Python of the host.
            address: Address that the agent listens on.
            port: Its port.
            interval_s: Seconds between samples.
            token_file: File for the token; if it exists, its token is used.
            on_step: Gets the name of each step.

        Raises:
            ValueError: if the host refuses, or is not reached. It is then as before.
            OSError: if a local file cannot be read or written.
        """
        content = wheel.read_bytes()
        is_new = not token_file.exists()
        token = secrets.token_urlsafe(32) if is_new else read_token(token_file)
        on_step(f"{self._host}: copying {wheel.name}, {len(content):,} bytes")
        code = f"{_source()}\nreceive({self._directory!r})\n"
        self._run([python, "-c", code], content)
        on_step(f"{self._host}: installing and starting")
        answer = self._call(
            python, "install", remote.Settings(self._directory, address, port, interval_s, token)
        )
        if is_new:
            token_file.touch(mode=0o600, exist_ok=False)
            token_file.write_text(token + "\n", encoding="ascii")
        on_step(f"{self._host}: runs as {answer.how}")
        return Installed(f"http://{self.short_name}:{port}", token_file, answer.facts)

    def remove(self, python: str = "python3") -> bool:
        """Stop and remove the agent. Return whether one was there. Raises ValueError."""
        return self._call(python, "remove", remote.Settings(self._directory)).was_there

    def _call(self, python: str, action: str, settings: remote.Settings) -> remote.Answer:
        # Standard input, because everyone on the host can read the words of a command.
        given = json.dumps(dataclasses.asdict(settings))
        text = f"{_source()}\nrun({action!r}, Settings(**json.loads({given!r})))\n"
        output = self._run([python, "-"], text.encode())
        try:
            answer = convert(json.loads(output.splitlines()[-1]), remote.Answer)
        except (ValueError, IndexError):
            raise ValueError(f"{self._host}: expected an answer, got: {_tail(output)}") from None
        if answer.error:
            raise ValueError(f"{self._host}: {answer.error}")
        return answer

    def _run(self, words: list[str], content: bytes) -> str:
        # ssh gives the words to a shell.
        command = " ".join(shlex.quote(it) for it in words)
        try:
            done = subprocess.run(
                [*self._ssh, self._host, command], input=content, capture_output=True
            )
        except FileNotFoundError:
            raise ValueError(f"{self._ssh[0]}: there is no such program: install OpenSSH") from None
        output = done.stdout.decode(errors="replace")
        if done.returncode != 0:
            said = _tail(done.stderr.decode(errors="replace")) or _tail(output)
            raise ValueError(f"{self._host}: ssh ended with status {done.returncode}: {said}")
        return output


def find_wheel() -> Path:
    """Return the newest wheel that `make dist` made. Raises ValueError if there is none."""
    found = sorted(DIST.glob("headrace-*.whl"), key=lambda it: it.stat().st_mtime)
    if not found:
        raise ValueError(
            f"{DIST} has no wheel of Headrace: make one by make dist, or name one by --wheel FILE"
        )
    return found[-1]


def _source() -> str:
    spec = importlib.util.find_spec(remote.__name__)
    if spec is None or spec.origin is None:
        raise ValueError(f"internal error: {remote.__name__} has no source")
    return Path(spec.origin).read_text(encoding="utf-8")


def _tail(text: str) -> str:
    lines = text.strip()[-MOST_OUTPUT:].splitlines()
    return lines[-1] if lines else ""
