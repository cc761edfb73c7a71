"""The programs that serve a testbed's clients.

To add one, write a file as `glusterfs.py` and add a line to `ALL`.
"""

from headrace._core import ScenarioError
from headrace.lab.servers.glusterfs import GlusterFs
from headrace.lab.servers.moosefs import MooseFs
from headrace.lab.servers.none import NoServer
from headrace.lab.servers.server import Server

ALL: tuple[Server, ...] = (NoServer(), GlusterFs(), MooseFs())

__all__ = ["ALL", "Server", "by_name", "names"]


def names(*, serving: bool) -> list[str]:
    """Those that serve a file system over the network, or that do not."""
    return [it.name for it in ALL if it.serves == serving]


def by_name(name: str) -> Server:
    """Raises ScenarioError if there is none of this name."""
    for server in ALL:
        if server.name == name:
            return server
    known = ", ".join(it.name for it in ALL)
    raise ScenarioError(f'lab.server = "{name}": expected one of {known}')
