"""Records of a what-if study's document."""

from typing import Literal, TypeAlias

import msgspec

from headrace.alternatives import Group
from headrace.simulate.report import Bottleneck, ScenarioText

EFFECT = 0.01
"""Largest change of a gain that counts as none."""

Kind: TypeAlias = Literal["quantity", "level", "pair"]
Effect: TypeAlias = Literal["helps", "harms", "none", "failed"]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A change of the scenario, and its gain; a row of the table."""

    path: str
    """The changed field; two for a pair."""
    kind: Kind
    group: Group
    """Cost of the change."""
    quantity: str | None = None
    """Quantity of the field: `rate`, `bytes`, `seconds`, `count` or `number`."""
    before: str | None
    after: str
    factor: float | None = None
    effect: Effect = "none"
    throughput_gain: float | None = None
    """Ratio of the throughput of the whole run to that without the change. None if the run
    failed, or takes no time."""
    throughput_gain_half_width: float | None = None
    latency_p95_gain: float | None = None
    """Ratio of the 95th percentile of latency without the change to that with it."""
    latency_p95_gain_half_width: float | None = None
    throughput_bytes_per_s: float | None = None
    operations_per_s: float | None = None
    latency_p95_s: float | None = None
    what: str | None = None
    """Meaning of a kind or level."""
    caution: str | None = None
    """Cost of the change in safety."""
    sets: list[str]
    """Values for `--set`."""
    error: str | None = None


class LeftOutKind(msgspec.Struct, frozen=True):
    """A kind or level that the scenario cannot have as it is."""

    path: str
    after: str
    group: str
    error: str


class Baseline(msgspec.Struct):
    """The scenario as it is."""

    bottleneck: Bottleneck


class WhatIfReport(msgspec.Struct):
    """A what-if study."""

    scenario: ScenarioText
    factor: float
    """Factor of the changes of quantities."""
    replications: int
    runs: int
    wall_seconds: float
    baseline: Baseline
    changes: list[Change]
    """Largest gain first."""
    nothing: list[str]
    """Fields that are 0, so that no factor changes them."""
    left_out: list[LeftOutKind]
