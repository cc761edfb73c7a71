"""The options of commands that trace the kernel."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Annotated as A

from headrace.commands.parameters import Help, Word
from headrace.file_formats import FileFormat
from headrace.files import check_writable

if TYPE_CHECKING:
    from headrace.kernel_trace import Recording

Trace = A[bool, Word("--trace"), Help("Measure once more with the kernel traced; needs root.")]
TraceTo = A[
    Path | None, Word("--trace-to"), Help("Save the kernel's events as Parquet; implies --trace.")
]


def check_tracing(directory: Path, trace: bool, trace_to: Path | None) -> bool:
    """Return whether to trace the kernel. Raises KernelTraceError or OSError, before anything is
    measured, if it cannot be traced."""
    if not trace and trace_to is None:
        return False
    from headrace import kernel_trace

    kernel_trace.check(directory)
    check_writable(trace_to, FileFormat.PARQUET)
    return True


def save_trace(recordings: "Mapping[str, Recording]", trace_to: Path | None) -> None:
    """Save recordings if a file is given."""
    if trace_to is not None:
        from headrace import kernel_trace

        kernel_trace.save(recordings, trace_to)
