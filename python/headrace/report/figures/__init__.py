"""The figures of a result, one file each. A figure is added by its file and one line here."""

from headrace.report.figures import latency, throughput, utilisation
from headrace.report.figures.style import Figures

FIGURES = {
    "throughput": throughput.draw,
    "latency": latency.draw,
    "utilisation": utilisation.draw,
}
"""By the name of the file that each is saved as."""

__all__ = ["FIGURES", "Figures"]
