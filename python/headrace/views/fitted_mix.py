"""A mix of operations beside the trace that it was fitted to."""

from headrace.profile.workload_fit import FittedMix, Goodness
from headrace.quantities import figure, numbered
from headrace.render import units
from headrace.render.blocks import Column, Headline, Note, Table, View

WORDS = {
    "operation_distance": "distance of operations",
    "read_size_distance": "distance of read sizes",
    "write_size_distance": "distance of write sizes",
    "sequential_share": "sequential share of the mix",
    "recorded_sequential_share": "sequential share of the trace",
    "requests_ratio": "requests over those of the trace",
    "bytes_read_ratio": "bytes read over those of the trace",
    "bytes_written_ratio": "bytes written over those of the trace",
    "score": "score: 0 is a perfect fit, 1 the worst",
}
"""Fields of `Goodness` in words."""


def view(result: FittedMix, name: str = "") -> View:
    """Return the shares of operations, the figures of the fit, and what the mix leaves out."""
    quality = {field: getattr(result.goodness, field) for field in Goodness.__struct_fields__}
    known = [(WORDS[field], value) for field, value in quality.items() if value is not None]
    return [
        Note(f": operation-mix of {numbered(result.processes, 'process')}", name or "mix"),
        Headline({"score": figure(result.goodness.score)}),
        Table(
            "Shares of operations",
            [
                Column("operation", [share.operation for share in result.shares]),
                Column("trace", [share.recorded for share in result.shares], units.SHARE),
                Column("mix", [share.fitted for share in result.shares], units.SHARE),
            ],
        ),
        Table(
            "Fit",
            [
                Column("figure", [words for words, _ in known]),
                Column("value", [value for _, value in known], units.FIGURE),
            ],
        ),
        *(Note(f"left out: {text}") for text in result.not_reproduced),
    ]
