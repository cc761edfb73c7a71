"""Playback of a run: the state of its net at evenly spaced instants of simulated time."""

import hashlib
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from headrace.files import atomic_file
from headrace.interruption import import_numpy
from headrace.parquet import reading_parquet
from headrace.simulate.outcome import Document

import_numpy()

Counts: TypeAlias = NDArray[np.uint64]

STRUCTURE = "headrace_structure"
"""Key of the net's structure among the metadata of a Parquet file."""
CHECKSUM = "headrace_sha256"
"""Key of the SHA-256 of the file."""
NO_DIGEST = "0" * 64
DIGEST = re.compile(CHECKSUM.encode() + rb".{1,4}?([0-9a-f]{64})", re.DOTALL)
"""The digest in the file's footer, which is not compressed."""
NODE_COLUMNS = ("tokens", "most_tokens", "queue", "most_queue", "busy", "busy_mean", "arrivals")
TABLE = pl.Schema(
    {
        "time_s": pl.Float64(),
        "kind": pl.Enum(["node", "transition"]),
        "id": pl.UInt32(),
        "path": pl.String(),
        **{name: pl.Float64() if name == "busy_mean" else pl.UInt64() for name in NODE_COLUMNS},
        "firings": pl.UInt64(),
    }
)


@dataclass(frozen=True)
class Playback:
    """Frames of a run: arrays of frames by nodes. Column n is the node with the id n.

    The frames are evenly spaced from the start of the run, warm-up included. The last one is its
    end.

    Examples:
        >>> playback = hr.run("scenarios/striped-read.toml", playback=50).playback
        >>> playback.nodes[0], playback.transitions[0]
        ('system/processes/ready', 'system/processes/workload/barrier →')
        >>> playback.table()["time_s"].n_unique()
        55
        >>> playback.save("playback.parquet")
    """

    structure: Document
    """The net, as `Scenario.structure()` returns it."""
    time_s: NDArray[np.float64]
    """Simulated time of each frame."""
    tokens: Counts
    """Tokens inside a node, summed over its copies."""
    most_tokens: Counts
    """Tokens inside the fullest copy."""
    queue: Counts
    """Tokens that wait for a server, summed over copies; 0 for places."""
    most_queue: Counts
    """Queue of the copy with the longest one."""
    busy: Counts
    """Servers at work at the time of the frame, summed over copies."""
    busy_mean: NDArray[np.float64]
    """Mean number of servers at work since the frame before."""
    arrivals: Counts
    """Tokens that came since the frame before."""
    firings: Counts
    """Firings since the frame before: frames by transitions."""

    @property
    def nodes(self) -> list[str]:
        """Path of each node, by id."""
        return _paths(self.structure, "nodes")

    @property
    def transitions(self) -> list[str]:
        """Path of each transition, by id."""
        return _paths(self.structure, "transitions")

    def table(self) -> pl.DataFrame:
        """Return the frames as a table: a row for each frame and node, or frame and transition."""
        nodes, transitions = self.nodes, self.transitions
        figures = {name: getattr(self, name).ravel() for name in NODE_COLUMNS}
        return pl.concat(
            [
                self._rows("node", nodes).with_columns(**figures),
                self._rows("transition", transitions).with_columns(firings=self.firings.ravel()),
            ],
            how="diagonal",
        ).select(pl.col(name).cast(type_) for name, type_ in TABLE.items())

    def _rows(self, kind: str, paths: list[str]) -> pl.DataFrame:
        frames = len(self.time_s)
        return pl.DataFrame(
            {
                "time_s": np.repeat(self.time_s, len(paths)),
                "id": np.tile(np.arange(len(paths), dtype=np.uint32), frames),
                "path": pl.Series(paths * frames, dtype=pl.String),
            }
        ).with_columns(kind=pl.lit(kind))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the playback as Parquet, atomically: the table, and the net in its metadata.

        Raises:
            OSError: if the file cannot be written.
        """
        # Into memory first: polars reports a full disk in other words.
        written = io.BytesIO()
        metadata = {STRUCTURE: json.dumps(self.structure), CHECKSUM: NO_DIGEST}
        self.table().write_parquet(written, metadata=metadata)
        content = _with_digest(written.getvalue())
        try:
            with atomic_file(Path(path)) as partial:
                partial.write_bytes(content)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None


def load_playback(path: str | PathLike[str]) -> Playback:
    """Load a playback that `Playback.save` or `headrace run --playback` wrote.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if it is not the file of a playback.

    Examples:
        >>> from headrace.simulate import load_playback
        >>> hr.run("scenarios/striped-read.toml", playback=50).playback.save("playback.parquet")
        >>> load_playback("playback.parquet").table().columns[:4]
        ['time_s', 'kind', 'id', 'path']
    """
    expected = "a file that headrace run --playback wrote"
    content = Path(path).read_bytes()
    # Before polars reads it: a wrong length may end the process.
    digest = DIGEST.search(content)
    if digest is None or not content.startswith(b"PAR1"):
        raise ValueError(f"{path}: it holds no playback: expected {expected}")
    if content != _with_digest(content):
        raise ValueError(f"{path}: it is damaged: record the playback again")
    with reading_parquet(path, expected):
        metadata = pl.read_parquet_metadata(io.BytesIO(content))
        table = pl.read_parquet(io.BytesIO(content))
    try:
        structure = json.loads(metadata[STRUCTURE])
        table = table.select(list(TABLE)).cast(TABLE)
        nodes = table.filter(pl.col("kind") == "node")
        width = len(_paths(structure, "nodes"))
        arrays = {name: nodes[name].to_numpy().reshape(-1, width) for name in NODE_COLUMNS}
        firings = table.filter(pl.col("kind") == "transition")["firings"].to_numpy()
        return Playback(
            structure=structure,
            time_s=nodes["time_s"].to_numpy().reshape(-1, width)[:, 0],
            firings=firings.reshape(arrays["tokens"].shape[0], -1),
            **arrays,
        )
    except (KeyError, TypeError, ValueError, IndexError, pl.exceptions.PolarsError):
        raise ValueError(f"{path}: it holds no playback: expected {expected}") from None


def _with_digest(content: bytes) -> bytes:
    """Return a file with its SHA-256, computed with `NO_DIGEST` in that place."""
    digest = DIGEST.search(content)
    assert digest is not None
    start, end = digest.span(1)
    zeroed = content[:start] + NO_DIGEST.encode() + content[end:]
    return content[:start] + hashlib.sha256(zeroed).hexdigest().encode() + content[end:]


def playback_of(columns: dict[str, Any]) -> Playback:
    """Convert the extension module's frames, which count from the start of the run."""
    time = columns["time_s"]
    frames = len(time)

    def by_frame(name: str) -> NDArray[Any]:
        grid: NDArray[Any] = columns[name].reshape(frames, -1)
        return grid

    def since_before(name: str) -> NDArray[Any]:
        grid = by_frame(name)
        return np.diff(grid, axis=0, prepend=np.zeros_like(grid[:1]))

    spans = np.diff(time, prepend=0.0)[:, None]
    work = since_before("work_s")
    return Playback(
        structure=json.loads(columns["structure"]),
        time_s=time,
        busy_mean=np.divide(work, spans, out=np.zeros_like(work), where=spans > 0),
        arrivals=since_before("arrivals"),
        firings=since_before("firings"),
        **{key: by_frame(key) for key in ("tokens", "most_tokens", "queue", "most_queue", "busy")},
    )


def _paths(structure: Document, kind: str) -> list[str]:
    """Paths of all nodes or transitions, by id."""

    def walk(page: Document) -> Iterator[tuple[int, str]]:
        for node in page[kind]:
            yield node["id"], f"{page['path']}/{node['name']}"
        for inner in page["pages"]:
            yield from walk(inner)

    return [path for _, path in sorted(walk(structure["page"]))]
