"""Data of a profile's report."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
import polars as pl

from headrace.profile.characteristics import Characteristics
from headrace.profile.document import Activity, TimeBalance
from headrace.profile.interval_means import lengths, weighted_mean
from headrace.profile.worksheet import MachineFacts, facts_of
from headrace.views.calls import characteristics_of

Document = Mapping[str, Any]

LEAST_SHARE = 0.01
"""Share of the busiest disk's data from which another disk has a chart."""
RATES = pl.DataFrame(schema={"from_s": pl.Float64, "to_s": pl.Float64})
"""Rates of a recording without an interval."""


@dataclass(frozen=True)
class ProfileData:
    """A profile with its samples."""

    profile: Document
    """As decoded from profile.json."""
    rates: pl.DataFrame = field(default_factory=RATES.clear)
    """One row for each interval, as `headrace.profile.recording.rates` returns it."""
    processes: pl.DataFrame | None = None
    baseline: Mapping[str, Document] = field(default_factory=dict)
    """Figures of the baseline by name: {"value", "unit", "cpu"}."""

    @property
    def phases(self) -> Sequence[Document]:
        """Phases in order."""
        return list(self.profile.get("phases") or [])

    @cached_property
    def balances(self) -> list[TimeBalance | None]:
        """Time balances of the phases."""
        documents = (phase.get("balance") for phase in self.phases)
        return [one and msgspec.convert(one, TimeBalance) for one in documents]

    @cached_property
    def trace(self) -> Characteristics | None:
        """Characteristics of the captured trace; None without one."""
        return characteristics_of(self.profile.get("characteristics"))

    @cached_property
    def activity(self) -> Activity | None:
        """Use of time by process."""
        document = self.profile.get("activity")
        return None if document is None else msgspec.convert(document, Activity)

    @cached_property
    def facts(self) -> MachineFacts:
        """Facts of the machine; unknown if the recording has none."""
        return facts_of(self.profile.get("environment") or {})

    @property
    def duration_s(self) -> float:
        """Duration of the run in seconds."""
        return float(self.profile.get("duration_s") or maximum(self.rates["to_s"]))

    def value(self, figure: str) -> float | None:
        """Return a figure of the baseline; None if it has none."""
        value = self.baseline.get(figure)
        return None if value is None else value.get("value")

    def column(self, name: str) -> pl.Series:
        """Return a column of the rates as floats; empty values if there is none."""
        if name in self.rates.columns:
            return self.rates[name].cast(pl.Float64)
        return pl.Series(name, [None] * self.rates.height, dtype=pl.Float64)

    def sum(self, *names: str) -> pl.Series:
        """Return the sum of columns, without those that are missing; an interval in which all
        are unknown stays unknown."""
        present = [name for name in names if name in self.rates.columns]
        if not present:
            return self.column(names[0])
        total = self.rates.select(
            pl.when(pl.any_horizontal(pl.col(present).is_not_null()))
            .then(pl.sum_horizontal(present))
            .alias(names[0])
        )
        return total.to_series().cast(pl.Float64)

    def within(self, phase: Document) -> "ProfileData":
        """Return the same data of one phase: the intervals whose middle lies in it."""
        middle = (pl.col("from_s") + pl.col("to_s")) / 2
        here = (middle >= phase["from_s"]) & (middle < phase["to_s"])
        processes = None if self.processes is None else self.processes.filter(here)
        return ProfileData(self.profile, self.rates.filter(here), processes, self.baseline)

    def mean(self, name: str) -> float | None:
        """Return the mean of a column over time; None if it is unknown."""
        return weighted_mean(self.column(name), self.lengths)

    def total(self, name: str) -> float | None:
        """Return the integral of a rate over time; None if it is unknown."""
        values = self.column(name)
        return float((values * self.lengths).sum()) if values.drop_nulls().len() else None

    @cached_property
    def lengths(self) -> pl.Series:
        """Length of each interval in seconds."""
        return lengths(self.rates)

    def instances(self, kind: str) -> list[str]:
        """Return the names of a kind of columns, as disks for `disk.NAME.queue`, in their order in
        the frame."""
        names: dict[str, None] = {}
        for column in self.rates.columns:
            # A name may have dots itself: the figure after the last one has none.
            if column.startswith(f"{kind}.") and column.count(".") >= 2:
                names[column[len(kind) + 1 :].rpartition(".")[0]] = None
        return list(names)

    @cached_property
    def cores(self) -> list[str]:
        """Numbers of the cores."""
        return sorted(self.instances("cpu"), key=lambda name: int(name) if name.isdecimal() else 0)

    def busiest_core(self) -> pl.Series:
        """Return the largest busy share of a core in each interval."""
        if not self.cores:
            return self.column("cpu.busiest")
        states = ("user", "system", "nice", "irq", "softirq", "steal")
        busy = {core: self.sum(*(f"cpu.{core}.{state}" for state in states)) for core in self.cores}
        return pl.DataFrame(busy).max_horizontal().rename("busiest")

    @cached_property
    def disks(self) -> list[str]:
        """Disks below the directory and the busiest other one, by the amount of data that they
        moved; at most four. If those below are not known, any four.

        Partitions and members of a listed disk are not among them. Disks that moved less than 1 %
        of the first one's data are not, either.
        """
        moved = {name: self._moved("disk", name) for name in self.instances("disk")}
        active = [name for name in moved if moved[name] > 0]
        members = {
            member for disk in self.facts.disks if disk.name in active for member in disk.made_of
        }
        whole = [
            name
            for name in active
            if name not in members
            and not any(is_partition(name, other) for other in active)
            and not any(is_partition(other, name) for other in members)
        ]
        largest = max((moved[name] for name in whole), default=0.0)
        busy = [name for name in whole if moved[name] >= LEAST_SHARE * largest]
        busy.sort(key=lambda name: (name not in self.own_disks, -moved[name]))
        own = sum(name in self.own_disks for name in busy)
        return busy[: min(own + 1, 4) if self.own_disks else 4]

    @property
    def own_disks(self) -> Sequence[str]:
        """Disks below the file system of the directory."""
        return self.facts.storage.devices if self.facts.storage else []

    @cached_property
    def networks(self) -> list[str]:
        """Network interfaces that moved data, by amount, and at most four."""
        moved = {name: self._moved("net", name) for name in self.instances("net")}
        return sorted((name for name in moved if moved[name] > 0), key=lambda key: -moved[key])[:4]

    def _moved(self, kind: str, name: str) -> float:
        words = ("read", "write") if kind == "disk" else ("receive", "send")
        rates = self.sum(*(f"{kind}.{name}.{word}_bytes_per_s" for word in words))
        return float((rates * self.lengths).sum() or 0.0)


def is_partition(name: str, disk: str) -> bool:
    """Return whether a block device is a partition of a disk, by the kernel's naming."""
    # sda1 of sda, nvme0n1p1 of nvme0n1.
    separator = "p" if disk[-1:].isdecimal() else ""
    return re.fullmatch(rf"{re.escape(disk)}{separator}\d+", name) is not None


def maximum(values: pl.Series) -> float:
    """Return the largest known value; 0 if none is known."""
    array = values.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return float(np.nanmax(array)) if np.isfinite(array).any() else 0.0
