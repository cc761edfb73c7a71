"""Settings that the operator of a server decides."""

from pathlib import Path

import msgspec

from headrace.monitors.agents import Agent

GIB = 1 << 30


class Limits(msgspec.Struct, frozen=True):
    """Limits of each job."""

    memory: int = 8 * GIB
    """Bytes of address space."""
    seconds: float = 3600.0
    """Time from start to end."""
    waiting: int = 100
    """Jobs of one user that may wait."""
    ended: int = 1000
    """Jobs that have ended and are kept, with their files."""
    upload: int = GIB
    """Bytes of an uploaded file."""
    quota: int = 10 * GIB
    """Bytes of the uploaded files of a user."""
    requests: float = 100.0
    """Requests a second of a user; ten times as many at once."""


class Settings(msgspec.Struct, frozen=True):
    """Settings of `headrace serve`."""

    data: Path
    """Directory for jobs, uploads, users and the history of monitors."""
    address: str = "127.0.0.1"
    port: int = 8180
    needs_login: bool = False
    """Whether users log in. Without login everyone who reaches the address is an operator."""
    local_token: str | None = None
    """Token of the user `local`, an operator, beside those of the users."""
    host_names: tuple[str, ...] = ()
    """Names in the Host header that lead here. On the loopback address its own names do, too; where
    users log in, none means all."""
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    directories: tuple[Path, ...] = ()
    """Directories that benchmarks may write below, and whose files jobs may read."""
    peers: tuple[str, ...] = ()
    """Hosts that benchmarks may connect with, as users write them."""
    proxies: tuple[str, ...] = ()
    """Addresses of reverse proxies, whose X-Forwarded-For and X-Forwarded-Proto hold."""
    schedulers: bool = False
    """Whether scenarios may run Python schedulers."""
    programs: bool = False
    """Whether users may run programs of their own (`headrace profile -- PROGRAM`)."""
    is_monitored: bool = True
    """Whether this host is sampled."""
    monitor_interval_s: float = 1.0
    """Seconds between its samples."""
    agents: tuple[Agent, ...] = ()
    """Agents on other hosts, beside those of `agents.toml`."""
    limits: Limits = Limits()
    cores: int = 1
    """Number of jobs that run side by side. A measurement always runs alone."""
