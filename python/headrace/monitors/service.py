"""The monitors of a server: samples this host, asks the agents, keeps history and states."""

import socket
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from headrace.files import atomic_file
from headrace.monitors.agents import Agent, AgentClient, AgentFailure, AgentFile, name_of
from headrace.monitors.history import Event, History
from headrace.monitors.host_sampler import Facts, HostSampler, Sample, host_facts
from headrace.monitors.rules import OWN, Rule, load_rules, parse_rules
from headrace.monitors.states import Change, HostStates, State, is_reported, worst

POLL_S = 2.0
"""Seconds between two requests to an agent."""
LONGEST_BACK_OFF_S = 60.0
OFFSETS = 20
"""Comparisons of an agent's clock of which the most certain one counts."""
OFFSET_CHANGE_S = 0.02
"""Changes of the offset below it are not followed."""
SILENT_S = 15.0
"""Time without a sample after which a host counts as silent."""


class HostStatus(msgspec.Struct, frozen=True):
    """A host as pages and the API show it."""

    name: str
    is_local: bool
    url: str | None
    from_options: bool
    """Whether an option of the command line named it, so that no page can remove it."""
    state: Literal["ok", "warning", "problem", "unreached", "waiting"]
    reasons: list[str]
    """Why the state is not ok."""
    states: list[State]
    newest: float | None
    """End of the newest sample on this host's clock."""
    unreached_since: float | None
    offset_s: float
    """Its clock's time less this host's."""
    offset_uncertainty_s: float | None
    facts: Facts


class MonitoredHost:
    """A host: its latest sample, states and clock."""

    def __init__(self, name: str, agent: Agent | None, rules: Sequence[Rule]) -> None:
        self.name, self.agent = name, agent
        self.from_options = False
        self.states = HostStates(rules)
        self.latest: Sample | None = None
        self.facts: Facts = {}
        self.error = ""
        self.unreached_since: float | None = None
        self.offset_s = 0.0
        self.offset_uncertainty_s: float | None = None
        self.over = threading.Event()
        self._offsets: deque[tuple[float, float]] = deque(maxlen=OFFSETS)

    def compare_clock(self, offset_s: float, uncertainty_s: float) -> None:
        """Take a comparison of the clocks into account."""
        self._offsets.append((uncertainty_s, offset_s))
        uncertainty, offset = min(self._offsets)
        moved = abs(offset - self.offset_s) > uncertainty + OFFSET_CHANGE_S
        if self.offset_uncertainty_s is None or moved:
            self.offset_s = offset
        self.offset_uncertainty_s = uncertainty

    def forget_clock(self) -> None:
        """Forget the comparisons: the agent restarted."""
        self._offsets.clear()

    def status(self, now: float) -> HostStatus:
        """Return the host's state."""
        states = self.states.states()
        reasons = [it.reason for it in states if it.state != "ok"]
        state: Any = worst(states)
        newest = None if self.latest is None else self.latest.end
        if self.unreached_since is not None:
            state = "unreached"
            reasons = [f"not reached: {self.error}"]
        elif newest is None:
            state, reasons = "waiting", ["no sample has come yet"]
        elif now - newest > SILENT_S + 2 * float(self.facts.get("interval_s") or 0):
            state, reasons = "unreached", ["it answers, but its samples are old"]
        return HostStatus(
            name=self.name,
            is_local=self.agent is None,
            url=None if self.agent is None else self.agent.url,
            from_options=self.from_options,
            state=state,
            reasons=reasons,
            states=states,
            newest=newest,
            unreached_since=self.unreached_since,
            offset_s=self.offset_s,
            offset_uncertainty_s=self.offset_uncertainty_s,
            facts=self.facts,
        )


class Monitors:
    """The monitors of a server. All methods may be called from any thread."""

    def __init__(
        self,
        data: Path,
        *,
        interval_s: float = 1.0,
        is_local_monitored: bool = True,
        agents: Sequence[Agent] = (),
    ) -> None:
        """Open the history and begin.

        Parameters:
            data: Directory of the server.
            interval_s: Seconds between the samples of this host.
            is_local_monitored: Whether this host is sampled.
            agents: Agents that options name, beside those of `agents.toml`.

        Raises:
            ValueError: if the history, the rules or the agents are damaged.
            OSError: if they cannot be read.
        """
        self._data = data
        self._lock = threading.RLock()
        self._rules = load_rules(data / OWN)
        self.agent_file = AgentFile(data)
        entries = self.agent_file.entries()
        self.history = History(data / "monitors.sqlite")
        self.problem = ""
        """Why the history cannot be written; empty if it can."""
        self.local_name = socket.gethostname()
        self._hosts: dict[str, MonitoredHost] = {}
        self._threads: list[threading.Thread] = []
        self._sampler: HostSampler | None = None
        if is_local_monitored:
            self._sampler = HostSampler(interval_s)
            local = MonitoredHost(self.local_name, None, self._rules)
            local.facts = host_facts() | {"interval_s": interval_s}
            self._hosts[self.local_name] = local
        for agent in agents:
            self._begin(agent, from_options=True)
        for agent in entries:
            if agent.name not in self._hosts:
                self._begin(agent)
        if self._sampler is not None:
            self._sampler.start(lambda sample: self._add(local, [sample]))

    def close(self) -> None:
        """End all threads and close the history."""
        if self._sampler is not None:
            self._sampler.close()
        with self._lock:
            hosts = list(self._hosts.values())
        for it in hosts:
            it.over.set()
        for thread in self._threads:
            # One may wait for an agent that does not answer.
            thread.join(0.2)
        self.history.close()

    # --- Hosts ----------------------------------------------------------------------------------

    def hosts(self) -> list[HostStatus]:
        """Return all hosts, this one first."""
        now = time.time()
        with self._lock:
            return [it.status(now) for it in self._hosts.values()]

    def host(self, name: str) -> HostStatus | None:
        """Return a host."""
        with self._lock:
            found = self._hosts.get(name)
            return None if found is None else found.status(time.time())

    def latest(self, name: str) -> Sample | None:
        """Return the newest sample of a host."""
        with self._lock:
            found = self._hosts.get(name)
            return None if found is None else found.latest

    def add_agent(self, url: str, token: str, name: str = "") -> str:
        """Add an agent to `agents.toml` and begin to ask it. Return its name.

        Raises ValueError if name, URL or token cannot be used.
        """
        with self._lock:
            name = name.strip() or name_of(url, set(self._hosts))
            if name in self._hosts:
                raise ValueError(f"there is a host {name} already")
            self._begin(self.agent_file.add(name, url, token.strip()))
        return name

    def remove_agent(self, name: str, *, with_history: bool = False) -> None:
        """Stop asking an agent and remove it from `agents.toml`.

        Raises ValueError if there is none, or an option of the command line named it.
        """
        with self._lock:
            host = self._hosts.get(name)
            if host is None or host.agent is None:
                raise ValueError(f"there is no agent {name}")
            if host.from_options:
                raise ValueError(f"{name} comes from headrace serve --agent: remove it there")
            self.agent_file.remove(name)
            host.over.set()
            del self._hosts[name]
        if with_history:
            self.history.remove(name)

    # --- Rules ----------------------------------------------------------------------------------

    def rules(self) -> tuple[Rule, ...]:
        """Return the rules in order of precedence."""
        return self._rules

    def own_rules(self) -> str:
        """Return the text of the server's own rules."""
        try:
            return (self._data / OWN).read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""

    def set_own_rules(self, text: str) -> None:
        """Check and save the server's own rules. Raises ValueError with the place of an error."""
        rules = parse_rules(text)
        with self._lock:
            with atomic_file(self._data / OWN) as partial:
                partial.write_text(text, encoding="utf-8")
            self._rules = rules
            for it in self._hosts.values():
                it.states.set_rules(rules)

    # --- Samples --------------------------------------------------------------------------------

    def _add(self, host: MonitoredHost, samples: Sequence[Sample]) -> None:
        try:
            added = self.history.append(host.name, samples)
            self.problem = ""
        except sqlite3.Error as error:
            self.problem = f"the history cannot be written: {error}"
            added = list(samples)
        events: list[Event] = []
        with self._lock:
            for sample in added:
                host.latest = sample
                changes = host.states.update(sample.figures, sample.end)
                events += [_event(host.name, it) for it in changes if is_reported(it)]
        for event in events:
            self._add_event(event)

    def _add_event(self, event: Event) -> None:
        try:
            self.history.add_event(event)
        except sqlite3.Error as error:
            self.problem = f"the history cannot be written: {error}"

    # --- Agents ---------------------------------------------------------------------------------

    def _begin(self, agent: Agent, *, from_options: bool = False) -> None:
        host = MonitoredHost(agent.name, agent, self._rules)
        host.from_options = from_options
        self._hosts[agent.name] = host
        thread = threading.Thread(
            target=self._ask, args=(host, AgentClient(agent)), name="headrace-agent", daemon=True
        )
        self._threads = [it for it in self._threads if it.is_alive()] + [thread]
        thread.start()

    def _ask(self, host: MonitoredHost, client: AgentClient) -> None:
        """Ask an agent until the end."""
        instance, after, wait_s = "", 0, 0.0
        while not host.over.wait(wait_s):
            try:
                if not host.facts:
                    host.facts = client.facts()
                poll = client.samples(after)
                if poll.instance != instance:
                    # Its numbers begin anew.
                    if instance:
                        host.facts = client.facts()
                        host.forget_clock()
                    instance, after = poll.instance, 0
                    poll = client.samples(after)
            except AgentFailure as error:
                wait_s = min(max(2 * wait_s, POLL_S), LONGEST_BACK_OFF_S)
                self._unreached(host, str(error))
                continue
            host.compare_clock(poll.offset_s, poll.uncertainty_s)
            self._reached(host)
            shifted = [it._replace(end=it.end - host.offset_s) for it in poll.samples]
            if not host.over.is_set():
                self._add(host, shifted)
            if poll.samples:
                after = max(it.number for it in poll.samples)
            # There is more at once after a time without an answer.
            wait_s = 0.05 if len(poll.samples) > 500 else POLL_S

    def _unreached(self, host: MonitoredHost, reason: str) -> None:
        is_new = host.unreached_since is None
        with self._lock:
            host.error = reason
            if is_new:
                host.unreached_since = time.time()
        if is_new:
            self._add_event(Event(host.name, time.time(), "agent", "", "unreached", "ok", reason))

    def _reached(self, host: MonitoredHost) -> None:
        if host.unreached_since is None:
            return
        with self._lock:
            host.unreached_since, host.error = None, ""
        self._add_event(Event(host.name, time.time(), "agent", "", "ok", "unreached", "reached"))


def _event(host: str, change: Change) -> Event:
    it = change.after
    text = it.text or ("ok" if it.state == "ok" else it.state)
    return Event(host, it.since, it.monitor, it.device, it.state, change.before.state, text)
