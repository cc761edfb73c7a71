"""Measure a scenario's workloads on a real file system."""

from headrace.histograms import percentiles
from headrace.measure.benchmark import Live, clean, measure, measure_strict
from headrace.measure.client_host_sweep import client_host_sweep
from headrace.measure.client_sweep import client_sweep
from headrace.measure.kernel_traced import measure_with_kernel_trace
from headrace.measure.load_sweep import Criteria, load_sweep
from headrace.measure.measurement import Measurement
from headrace.measure.mix import MixedLoad
from headrace.measure.repetitions import repeat
from headrace.measure.space import SpaceLimit, limited_space
from headrace.measure.sweep_result import LoadSweep
from headrace.measure.workload import load

__all__ = [
    "Criteria",
    "Live",
    "LoadSweep",
    "Measurement",
    "MixedLoad",
    "SpaceLimit",
    "clean",
    "client_host_sweep",
    "client_sweep",
    "limited_space",
    "load",
    "load_sweep",
    "measure",
    "measure_strict",
    "measure_with_kernel_trace",
    "percentiles",
    "repeat",
]
