"""Names of output files: a suffix must not promise another format than the one that is written."""

from enum import Enum
from pathlib import Path


class FileFormat(Enum):
    """A format that Headrace writes, with the suffixes that fit it, the usual one first."""

    JSON = (".json",)
    CSV = (".csv",)
    PARQUET = (".parquet", ".pq")
    TOML = (".toml",)
    ZIP = (".zip",)

    @property
    def title(self) -> str:
        """Name of the format in messages."""
        return "Parquet" if self is FileFormat.PARQUET else self.name


IMAGES = frozenset((".eps", ".gif", ".jpeg", ".jpg", ".pdf", ".png", ".ps", ".svg", ".webp"))
COMPRESSED = frozenset((".bz2", ".gz", ".xz", ".zip", ".zst"))
OTHERS = frozenset(
    [
        ".arrow",
        ".avro",
        ".db",
        ".feather",
        ".fio",
        ".h5",
        ".hdf5",
        ".htm",
        ".html",
        ".ipc",
        ".jsonl",
        ".md",
        ".ndjson",
        ".npy",
        ".npz",
        ".ods",
        ".orc",
        ".py",
        ".sqlite",
        ".strace",
        ".tex",
        ".tsv",
        ".xls",
        ".xlsx",
        ".xml",
        ".yaml",
        ".yml",
        ".txt",
    ]
)
KNOWN = IMAGES | COMPRESSED | OTHERS | {suffix for it in FileFormat for suffix in it.value}
"""Suffixes that name a format. Any other, or none, fits all: `result.old`, `run-1.5`."""


def check_format(path: Path, format: FileFormat) -> None:
    """Check that the suffix of a file does not belong to another format.

    Raises ValueError if it does.
    """
    suffix = path.suffix.lower()
    # A text file may hold any text.
    text = suffix == ".txt" and format is not FileFormat.PARQUET
    if suffix in KNOWN and suffix not in format.value and not text:
        raise ValueError(
            f"{path}: the output is {format.title}, not {suffix}:"
            f" expected a name that ends in {format.value[0]}"
        )


def check_directory_name(path: Path) -> None:
    """Check that the name of a plot directory has no suffix of an image, unless it exists.

    Raises ValueError if it is.
    """
    if path.suffix.lower() in IMAGES and not path.is_dir():
        raise ValueError(
            f"{path}: plots are written into a directory, as PNG and SVG: expected the name of a"
            f" directory, without {path.suffix}"
        )
