"""What can be wrong with a trace."""


class KernelTraceError(ValueError):
    """The kernel cannot be traced, or a trace cannot be read. The message says why."""
