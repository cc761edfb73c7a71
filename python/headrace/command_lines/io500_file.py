"""Configuration files of IO500 (io500.ini)."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from headrace.command_lines.options import Fields, Reader, table
from headrace.document_io import read_text

WORKLOADS = ("ior-easy", "mdtest-easy", "ior-hard", "mdtest-hard")
AMOUNTS = ("blockSize", "segmentCount", "n")
"""Keys with the amount of work of a process."""


@dataclass
class Config:
    """A configuration file: what it changes in the phases of IO500."""

    directory: str | None = None
    stonewall: float | None = None
    fields: dict[str, Fields] = field(default_factory=dict)
    """Fields of each workload, by its preset."""
    amounts: dict[str, int] = field(default_factory=dict)
    """Amount of work of a process, by the preset: bytes, segments or files."""
    left_out: set[tuple[str, str]] = field(default_factory=set)
    """Phases that do not run, each with the preset of its workload."""
    notes: list[str] = field(default_factory=list)

    def phases(self, workload: str) -> list[str]:
        """Return the phases of a workload that run."""
        every = table("io500").phases[workload].phases
        return [phase for phase in every if (workload, phase) not in self.left_out]

    def place(self) -> Path:
        """Return `datadir`, or the nearest directory above it that exists; IO500 makes it. Raises
        ValueError if there is none."""
        if self.directory is None:
            raise ValueError("bench io500: expected a directory, or --config with a datadir")
        path = Path(self.directory)
        return next(each for each in (path, *path.absolute().parents) if each.is_dir())


def read_config(file: Path) -> Config:
    """Read a configuration file (IO500, src/ini-parse.c).

    Raises:
        ValueError: A line is no section or key, or its value is refused. The message has the line.
        OSError: The file cannot be read.
    """
    config = Config(fields={name: {} for name in WORKLOADS})
    known = table("io500")
    readers: dict[str, Reader] = {}
    section = ""
    for at, raw in enumerate(read_text(file, "a configuration of IO500").splitlines(), 1):
        line = re.split(r"(?:^|\s)[#;]", raw, maxsplit=1)[0].strip()
        where = f"{file}:{at}"
        if not line:
            continue
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1].strip()
            if section not in {"global", "debug", *known.phases, *known.absent}:
                raise ValueError(f"{where}: [{section}]: no such section of IO500")
            continue
        key, equals, value = (part.strip() for part in line.partition("="))
        if not equals or not section:
            raise ValueError(f'{where}: "{line}": expected NAME = VALUE below a [section]')
        if not value or section in known.absent:
            continue
        reader = readers.setdefault(section, Reader("io500"))
        try:
            reader.entry(f"[{section}] {key}", key, value)
        except ValueError as error:
            raise ValueError(f"{where}: {str(error).removeprefix('io500 ')}") from None
    for section, reader in readers.items():
        _apply(config, section, reader)
    config.notes += [note for reader in readers.values() for note in reader.differs]
    if unused := [word for reader in readers.values() for word in reader.unused]:
        config.notes.append(f"no effect: {', '.join(unused)}")
    for workload in ("mdtest-easy", "mdtest-hard"):
        if next(iter(config.phases(workload)), "create") != "create":
            raise ValueError(
                f"{file}: [{workload}-write] run = FALSE: expected no later phase of {workload},"
                " which uses its files"
            )
    return config


def _apply(config: Config, section: str, reader: Reader) -> None:
    values = reader.given.values
    config.directory = values.get("datadir", config.directory)
    config.stonewall = values.get("stonewall-time", config.stonewall)
    phases = table("io500").phases.get(section)
    affected = WORKLOADS if phases is None or not phases.workload else (phases.workload,)
    for name in affected:
        fields = config.fields[name]
        fields |= reader.given.fields
        for key in AMOUNTS:
            if key in values:
                config.amounts[name] = values[key]
        if values.get("filePerProc") is False:
            fields["access"] = "shared"
        if phases is not None and values.get("run") is False:
            config.left_out |= {(name, phase) for phase in phases.phases}
