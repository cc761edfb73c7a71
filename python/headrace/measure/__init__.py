"""Measuring: a scenario's workloads carried out on a real file system."""

from headrace.histograms import percentiles
from headrace.measure.benchmark import Live, clean, measure
from headrace.measure.client_host_sweep import client_host_sweep
from headrace.measure.ladder import Criteria, ladder
from headrace.measure.ladder_of_clients import ladder_of_clients
from headrace.measure.ladder_result import Ladder
from headrace.measure.measurement import Measurement
from headrace.measure.mix import MixedLoad
from headrace.measure.repeated import repeat
from headrace.measure.saved import keep_saved
from headrace.measure.traced import traced
from headrace.measure.whole import measure_whole
from headrace.measure.workload import load

__all__ = [
    "Criteria",
    "Ladder",
    "Live",
    "Measurement",
    "MixedLoad",
    "clean",
    "client_host_sweep",
    "keep_saved",
    "ladder",
    "ladder_of_clients",
    "load",
    "measure",
    "measure_whole",
    "percentiles",
    "repeat",
    "traced",
]
