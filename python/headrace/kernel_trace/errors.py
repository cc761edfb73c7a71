"""Errors of kernel traces."""


class KernelTraceError(ValueError):
    """The kernel cannot be traced, or a trace cannot be read. The message says why."""
