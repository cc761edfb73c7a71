"""The kernel's Landlock (Linux, Documentation/userspace-api/landlock.rst)."""

import ctypes

CREATE_RULESET, VERSION = 444, 1
"""Number of the system call landlock_create_ruleset, and its flag LANDLOCK_CREATE_RULESET_VERSION
(Linux, include/uapi/linux/landlock.h)."""


def landlock_version() -> int:
    """Return the version of Landlock; 0 if the kernel does not enforce it."""
    system_call = ctypes.CDLL(None).syscall
    system_call.restype = ctypes.c_long
    none, size = ctypes.c_void_p(None), ctypes.c_size_t(0)
    version = system_call(ctypes.c_long(CREATE_RULESET), none, size, ctypes.c_uint(VERSION))
    return max(int(version), 0)
