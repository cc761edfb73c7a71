"""Server software for testbeds.

To add one, write a module like `glusterfs.py` and add it to `ALL`.
"""

from headrace._core import ScenarioError
from headrace.lab.servers.glusterfs import GlusterFs
from headrace.lab.servers.moosefs import MooseFs
from headrace.lab.servers.none import NoServer
from headrace.lab.servers.server import Server

ALL: tuple[Server, ...] = (NoServer(), GlusterFs(), MooseFs())

__all__ = ["ALL", "Server", "by_name", "names"]


def names(*, serving: bool) -> list[str]:
    """Return the names of those that serve over the network, or of those that do not."""
    return [server.name for server in ALL if server.serves == serving]


def by_name(name: str) -> Server:
    """Return the server software of a name.

    Raises
    ------
    ScenarioError
        If it is unknown.
    """
    for server in ALL:
        if server.name == name:
            return server
    known = ", ".join(one.name for one in ALL)
    raise ScenarioError(f'lab.server = "{name}": expected one of {known}')
