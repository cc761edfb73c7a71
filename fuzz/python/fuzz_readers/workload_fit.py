"""Traces to which a workload is fitted. The fit simulates it, and is the slowest reader."""

from headrace.profile.workload_fit import fit

CORPUS = "trace"
READERS = (fit,)
