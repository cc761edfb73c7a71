"""The agents that a server asks: `agents.toml` in its data directory, and a client for them."""

import contextlib
import http.client
import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec

from headrace.addresses import is_loopback
from headrace.document_io import read_toml
from headrace.fields import decode_json
from headrace.files import atomic_file
from headrace.locks import hold
from headrace.monitors.agent import read_token
from headrace.monitors.host_sampler import MOST_FIGURES, Facts, Sample

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
MOST_AGENTS = 64
MOST_BYTES = 16 << 20
"""Bytes of an answer."""
LONGEST_NAME = 200
TIMEOUT_S = 5.0
SAMPLES = msgspec.json.Decoder(Sample)


class Agent(msgspec.Struct, frozen=True):
    """An agent and the file with its token."""

    name: str
    url: str
    token_file: Path | None = None


class AgentFile:
    """The agents of a server. Their tokens are files of mode 0600 in its directory `agents`."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self.path = data / "agents.toml"

    def entries(self) -> tuple[Agent, ...]:
        """Return all agents. Raises ValueError if the file is damaged."""
        try:
            found = read_toml(self.path, "agents in TOML").get("agents", {})
            agents = []
            for name, it in found.items():
                token = it.get("token_file")
                path = None if token is None else self._data / token
                agents.append(make_agent(name, it["url"], path))
            return tuple(agents)
        except FileNotFoundError:
            return ()
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{self.path}: expected agents with name and url: {error}") from None

    def add(self, name: str, url: str, token: str) -> Agent:
        """Add an agent, and save its token if it has one.

        Raises ValueError if the name is taken, or name, URL or token cannot be used.
        """
        agent = make_agent(name, url, None)
        with self._changed() as agents:
            if any(it.name == name for it in agents):
                raise ValueError(f"there is an agent {name} already")
            if len(agents) >= MOST_AGENTS:
                raise ValueError(f"there are {len(agents)} agents: {MOST_AGENTS} are allowed")
            if token:
                if not re.fullmatch(r"[!-~]{16,512}", token):
                    raise ValueError("token: expected 16 to 512 characters without blanks")
                path = self._data / "agents" / f"{name}.token"
                path.parent.mkdir(mode=0o700, exist_ok=True)
                path.unlink(missing_ok=True)
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
                with open(os.open(path, flags, 0o600), "w", encoding="ascii") as file:
                    file.write(token + "\n")
                agent = Agent(name, agent.url, path)
            agents.append(agent)
        return agent

    def remove(self, name: str) -> None:
        """Remove an agent with its token. Raises ValueError if there is none."""
        with self._changed() as agents:
            if all(it.name != name for it in agents):
                raise ValueError(f"{self.path} has no agent {name}")
            agents[:] = [it for it in agents if it.name != name]
        (self._data / "agents" / f"{name}.token").unlink(missing_ok=True)

    @contextlib.contextmanager
    def _changed(self) -> Iterator[list[Agent]]:
        self._data.mkdir(parents=True, exist_ok=True, mode=0o700)
        with hold(self._data):
            agents = list(self.entries())
            yield agents
            with atomic_file(self.path) as partial:
                partial.write_text("".join(self._text(it) for it in agents), encoding="utf-8")

    def _text(self, agent: Agent) -> str:
        lines = [f'[agents."{agent.name}"]', f"url = {json.dumps(agent.url)}"]
        if agent.token_file is not None:
            path = agent.token_file
            shown = path.relative_to(self._data) if path.is_relative_to(self._data) else path
            lines.append(f"token_file = {json.dumps(str(shown))}")
        return "\n".join(lines) + "\n\n"


def make_agent(name: str, url: str, token_file: Path | None) -> Agent:
    """Return an agent. Raises ValueError if name or URL cannot be used."""
    if not NAME.fullmatch(name):
        raise ValueError(f"{name!r}: expected a name of 1 to 63 letters, digits, '.', '_' and '-'")
    return Agent(name, checked_url(url), token_file)


def checked_url(url: str) -> str:
    """Return the URL of an agent without a path. Raises ValueError if it is none."""
    expected = f"{url!r}: expected a URL such as http://node1:8181"
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError(expected) from None
    if (
        parts.scheme not in ("http", "https")
        or not host
        or not re.fullmatch(r"[A-Za-z0-9.:_-]+", host)
        or parts.path not in ("", "/")
        or parts.query
        or parts.fragment
        or parts.username is not None
        or parts.password is not None
    ):
        raise ValueError(expected)
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}" + ("" if port is None else f":{port}")


def name_of(url: str, taken: set[str]) -> str:
    """Return a name for an agent without a given one: its host's."""
    parts = urlsplit(url)
    host = (parts.hostname or "agent").replace(":", "-").strip("-") or "agent"
    name = host[:50]
    if name in taken:
        name = f"{name}-{parts.port or 80}"
    return name


class Poll(NamedTuple):
    """An answer of an agent."""

    instance: str
    """Identifies the numbering of its samples."""
    offset_s: float
    """Its clock's time less this host's."""
    uncertainty_s: float
    samples: list[Sample]


class AgentFailure(Exception):
    """An agent that cannot be asked. The text is for the operator."""


class AgentClient:
    """Asks an agent."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        parts = urlsplit(agent.url)
        self._tls = parts.scheme == "https"
        self._host, self._port = parts.hostname or "", parts.port

    def facts(self) -> Facts:
        """Return the agent's facts about its host. Raises AgentFailure."""
        body, _ = self._get("/host")
        try:
            found = decode_json(body, Facts)
        except ValueError as error:
            raise AgentFailure(f"/host: expected facts: {error}") from None
        return {key[:50]: it[:200] if isinstance(it, str) else it for key, it in found.items()}

    def samples(self, after: int) -> Poll:
        """Return the samples after a number. Raises AgentFailure."""
        begin = time.time()
        body, headers = self._get(f"/samples?after={after}")
        end = time.time()
        try:
            now = float(headers.get("x-headrace-now", ""))
            samples = SAMPLES.decode_lines(body)
        except (ValueError, msgspec.MsgspecError) as error:
            raise AgentFailure(f"/samples: expected samples of an agent: {error}") from None
        if any(
            len(it.figures) > MOST_FIGURES or any(len(name) > LONGEST_NAME for name in it.figures)
            for it in samples
        ):
            raise AgentFailure(f"/samples: expected at most {MOST_FIGURES} figures with names")
        instance = headers.get("x-headrace-instance", "")[:64]
        return Poll(instance, now - (begin + end) / 2, (end - begin) / 2, samples)

    def _get(self, path: str) -> tuple[bytes, dict[str, str]]:
        try:
            token = None
            if self._agent.token_file is not None:
                if not self._agent.token_file.exists():
                    raise AgentFailure(f"{self._agent.token_file}: there is no such file")
                token = read_token(self._agent.token_file)
            headers = {} if token is None else {"Authorization": f"Bearer {token}"}
            kind = http.client.HTTPSConnection if self._tls else http.client.HTTPConnection
            connection = kind(self._host, self._port, timeout=TIMEOUT_S)
            try:
                connection.request("GET", path, headers=headers)
                answer = connection.getresponse()
                body = answer.read(MOST_BYTES + 1)
            finally:
                connection.close()
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise AgentFailure(reason) from None
        if len(body) > MOST_BYTES:
            raise AgentFailure(f"{path}: the answer is larger than {MOST_BYTES:,} bytes")
        if answer.status != 200:
            reason = {401: "the token is wrong or missing", 403: "refused"}.get(answer.status)
            raise AgentFailure(f"{path}: {reason or f'status {answer.status}'}")
        return body, {name.lower(): value for name, value in answer.getheaders()}


def parse_option(text: str, taken: set[str]) -> Agent:
    """Return the agent of `--agent URL=TOKENFILE`. Raises ValueError."""
    url, equals, path = text.partition("=")
    try:
        checked = checked_url(url)
    except ValueError as error:
        raise ValueError(f"--agent {error}") from None
    if equals and not Path(path).is_file():
        raise ValueError(f"--agent {url}={path}: there is no file {path}")
    if not equals and not is_loopback(urlsplit(checked).hostname or ""):
        raise ValueError(f"--agent {text}: expected URL=TOKENFILE")
    return make_agent(name_of(checked, taken), checked, Path(path).absolute() if equals else None)
