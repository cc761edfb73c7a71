"""The machine that figures come from."""

import platform
from pathlib import Path

NFS_CLIENT_CALLS, NFS_SERVER_CALLS = Path("/proc/net/rpc/nfs"), Path("/proc/net/rpc/nfsd")
"""Numbers of calls of the kernel's NFS client and server, by procedure."""


def this_host() -> dict[str, str]:
    """Return the processor architecture and the operating system, as results have them."""
    return {"machine": platform.machine(), "system": platform.platform()}
