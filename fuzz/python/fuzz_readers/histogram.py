"""Histograms of saved results, one a line, in the text format of HdrHistogram's logs."""

from pathlib import Path

from headrace._core import merged_histograms


def _merged(path: Path) -> None:
    lines = path.read_bytes().decode("utf-8", "replace").splitlines()
    try:
        merged_histograms([(line, None) for line in lines], [0.5, 0.99])
    except ValueError as error:
        # Its callers add the name of the file.
        raise ValueError(f"{path}: {error}") from None


READERS = (_merged,)
