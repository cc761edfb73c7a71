"""The figures of a result, one file each. A figure is added by its file and one line here."""

from headrace.report.figures import latency, throughput, utilisation
from headrace.report.figures.style import Figures

FIGURES = {
    "throughput": throughput.draw,
    "latency": latency.draw,
    "utilisation": utilisation.draw,
}
"""Figures by the name of their file."""

__all__ = ["FIGURES", "Figures"]
