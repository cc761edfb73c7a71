"""The measurement of a baseline."""

import os
import resource
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TypeAlias

import psutil

from headrace import _core
from headrace.calibrate import kernel_settings, mount_of, run_workload
from headrace.environment import of_directory
from headrace.measure import Measurement, load, measure_strict, network
from headrace.measure.space import check_room, state_need
from headrace.profile.baseline import characters, memory_copy
from headrace.profile.baseline.baseline import Baseline, Figure, Prediction
from headrace.profile.baseline.cases import (
    BLOCK,
    CHARACTERS,
    FIGURES,
    PAGE,
    Case,
    Sizes,
    cases,
    character_cases,
    concurrent_case,
)
from headrace.profile.baseline.machine import DEFAULT_SYSTEM, coarse_settings
from headrace.profile.baseline.prediction import check_machine, predict
from headrace.quantities import binary_size, numbered

ProgressCallback: TypeAlias = Callable[[int, int, str], object]
"""Called before each step with the number done, the total, and the name of the next."""
MIB = 1 << 20
TWICE_MEMORY, GIVEN, SYNCED = (
    "at least twice the memory",
    "given by --file-size",
    "smaller than memory: writes include fsync, and the page cache is emptied before reads",
)
"""Rules by which the size of the file is chosen."""
ROUND_TRIP, SENT = 1, 4 * MIB
"""Sizes of the messages of the network figures, in bytes."""
PILOT_BYTES, PILOT_NAMES = 16 * MIB, 64


@dataclass(frozen=True)
class Effort:
    """Time that a baseline may take."""

    device_s: float
    """Seconds of a figure of the device."""
    call_s: float
    """Seconds of a pass of a figure of processor and memory."""
    passes: int
    largest_characters: int
    """Bytes of the file of characters, at the most."""
    largest_names: int


FULL = Effort(3.0, 0.5, 3, 128 * MIB, 16 * 1024)
QUICK = Effort(0.5, 0.15, 3, 16 * MIB, 2048)


@dataclass
class _Findings:
    """Figures measured so far, and what limits them."""

    figures: dict[str, Figure] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    warnings: dict[str, str] = field(default_factory=dict)
    """Message by condition."""

    def add(self, case: Case, measurements: Sequence[Measurement]) -> None:
        """Add the figures of a case's passes."""
        documents = [measurement.document for measurement in measurements]
        cpu = statistics.median(
            each["counters"]["cpu_own"] * each["counters"]["processors"] for each in documents
        )
        for reading in case.readings:
            try:
                values = [reading.value(each) for each in documents]
            except ValueError as error:
                self.missing[reading.figure] = str(error)
                continue
            self.figures[reading.figure] = Figure(
                value=statistics.median(values),
                unit=reading.unit,
                cpu=cpu,
                method=case.method,
                samples=values,
            )
        for document in documents:
            for warning in document["warnings"]:
                if warning["condition"] != "fits-in-memory":
                    self.warnings.setdefault(warning["condition"], warning["message"])


def measure_baseline(
    directory: str | PathLike[str],
    *,
    file: int | None = None,
    quick: bool = False,
    peer: str | None = None,
    token: str | None = None,
    machine: Path | None = None,
    on_progress: ProgressCallback | None = None,
) -> Baseline:
    """Measure what this machine and the file system under a directory can do.

    Parameters:
        directory: Directory on the file system to measure. All files are created in directories of
            the load engine, which are removed.
        file: Size of the file of the device figures, in bytes; by default one that takes some
            seconds.
        quick: True for about ten seconds in all; by default about a minute.
        peer: HOST:PORT where `headrace bench net answer` listens; None for no network figures.
        token: The shared secret that it printed.
        machine: A machine file of `headrace calibrate` that replaces the machine made from the
            figures.
        on_progress: Called before each step.

    Raises:
        OSError: If the directory does not exist or is not writable, or the peer cannot be reached.
        ValueError: If `file` is no multiple of 8 KiB or does not fit, `token` is missing, or
            `machine` is no machine file.
        RunError: If not even a file can be written.
        KeyboardInterrupt: On Ctrl-C; all files are removed.

    Examples:
        >>> from headrace.profile.baseline import measure_baseline
        >>> baseline = measure_baseline(".", quick=True)  # doctest: +SKIP
        >>> f"{baseline.figures['memory-copy'].value / 1e9:.1f} GB/s"  # doctest: +SKIP
        '1.1 GB/s'
    """
    if file is not None and (file < BLOCK or file % BLOCK):
        raise ValueError(f"--file-size: {file} B: expected a multiple of 8 KiB")
    if (peer is None) != (token is None):
        raise ValueError("--peer: expected both --peer and --token, or neither")
    machine_file = None if machine is None else check_machine(machine)
    environment = of_directory(directory)
    effort = QUICK if quick else FULL
    settings, notes = host_settings(directory)
    measured = len(cases(_NOTHING, 1))
    # Pilot, concurrency, characters, copies; then simulations, those of characters included.
    steps = _Steps(on_progress, 2 * measured + 6 + (peer is not None))
    findings = _Findings()
    if file is not None:
        # Before anything is measured, so that a lack of space costs no time.
        for case in cases(replace(_NOTHING, file=file), 1):
            if case.name in ("block-write", "rewrite"):
                check_room(load(case.text), directory)
    if peer is not None and token is not None:
        # First: a wrong address should not cost a minute.
        steps.next("network")
        _network(peer, token, effort, findings)
    steps.next("pilot")
    sizes = _sizes(directory, file, effort, settings)
    planned = cases(sizes, effort.passes)
    state_need(numbered(len(planned), "case"), [load(one.text) for one in planned], directory)
    with characters.compiled() as program:
        for case in planned:
            steps.next(case.name)
            _measure(case, directory, findings)
        steps.next("concurrent-read")
        concurrency = _concurrency(directory, sizes, findings)
        steps.next("characters")
        _characters(program, directory, sizes, findings)
    steps.next("memory-copy")
    _memory_copy(effort, findings)
    baseline = Baseline(
        version=_core.VERSION,
        environment=environment,
        figures={name: findings.figures[name] for name in FIGURES if name in findings.figures},
        file_bytes=sizes.file,
        file_rule=file_rule(file, int(environment["memory_bytes"])),
        settings=settings,
        machine_file=machine_file,
        concurrency=concurrency,
        missing=findings.missing,
        notes=[*notes, *findings.notes, *findings.warnings.values()],
    )
    simulated = [*cases(sizes, 1), *character_cases(sizes.characters)]
    _self_check(baseline, simulated, steps)
    return baseline


_NOTHING = Sizes(PAGE, PAGE, PAGE, PAGE, PAGE, 0.0, 0.0, 1)
"""Sizes of cases that are not run."""


def file_rule(file: int | None, memory: int) -> str:
    """Return the rule by which a file size was chosen: one given, or None for the default."""
    if file is None:
        return SYNCED
    return TWICE_MEMORY if file >= 2 * memory else f"{GIVEN}; {SYNCED}"


def _sizes(
    directory: str | PathLike[str], file: int | None, effort: Effort, settings: Mapping[str, str]
) -> Sizes:
    """Choose the amounts of work by a short measurement."""
    pilot = Sizes(PILOT_BYTES, 0, 0, 0, 0, 0.0, 0.0, PILOT_NAMES)
    write, names = (case for case in cases(pilot, 1) if case.name in ("block-write", "names"))
    free = psutil.disk_usage(os.fspath(directory)).free
    memory = psutil.virtual_memory()
    if file is None:
        rate = write.readings[0].value(_run(write.text, directory).document)
        size = min(rate * effort.device_s, 2 * memory.total, free / 4)
        file = max(int(size) // MIB, PILOT_BYTES // MIB) * MIB
    per_second = names.readings[0].value(_run(names.text, directory).document)
    return Sizes(
        file=file,
        characters=min(file, effort.largest_characters),
        cached=min(file, 64 * MIB),
        new=_unwritten(settings, min(file, 256 * MIB, memory.available // 16)),
        synced=max(min(256 * MIB, free // 8 // MIB * MIB), MIB),
        call_s=effort.call_s,
        device_s=effort.device_s,
        names=int(min(max(per_second * effort.device_s / 2, PILOT_NAMES), effort.largest_names)),
    )


def _unwritten(settings: Mapping[str, str], most: int) -> int:
    """Return a size of at most `most` bytes, below the background limit of dirty data.

    Calls that write a file of this size do not wait for the device.
    """
    limit = settings.get("machine.write_back.background_bytes")
    if limit is not None:
        most = min(most, _core.parse_bytes(limit.strip('"')))
    return max(most // MIB, 1) * MIB


def _measure(case: Case, directory: str | PathLike[str], findings: _Findings) -> None:
    """Measure a case. A figure that the file system does not support is left out."""
    try:
        findings.add(case, _passes(case, directory))
    except (_core.RunError, _core.ScenarioError) as error:
        if case.fallback is None:
            findings.missing |= {reading.figure: str(error) for reading in case.readings}
            return
        findings.notes.append(f"{case.name}: no direct I/O here ({error}): measured without")
        without = replace(
            case,
            workload=case.fallback,
            fallback=None,
            method=case.method.replace("direct ", "uncached ", 1),
        )
        _measure(without, directory, findings)


def _concurrency(directory: str | PathLike[str], sizes: Sizes, findings: _Findings) -> float | None:
    """Return the rate of random reads by many processes over that by one; None if it is unknown."""
    alone = findings.figures.get("random-read")
    if alone is None or not alone.method.startswith("direct"):
        return None
    case = concurrent_case(sizes)
    try:
        return case.readings[0].value(_run(case.text, directory).document) / alone.value
    except (_core.RunError, ValueError) as error:
        findings.notes.append(f"the concurrency of the device is unknown: {error}")
        return None


def _passes(case: Case, directory: str | PathLike[str]) -> list[Measurement]:
    return [_run(case.text, directory) for _ in range(case.passes)]


def _run(text: str, directory: str | PathLike[str]) -> Measurement:
    """Measure a workload; names in a directory without recently freed inodes if possible, as ext4
    searches for others slowly."""
    try:
        mount_of(directory)
    except _core.ScenarioError:
        return measure_strict(text, directory)
    return run_workload(text, directory, "cache")


def _characters(
    program: Path | None, directory: str | PathLike[str], sizes: Sizes, findings: _Findings
) -> None:
    """Measure both figures of characters by a C program, or by the load engine without a
    compiler."""
    if program is None:
        findings.notes.append(
            "characters: no C compiler (cc) was found: the load engine's calls are measured, which"
            " take no lock and are faster than fgetc and fputc of a program"
        )
        for case in character_cases(sizes.characters):
            _measure(case, directory, findings)
        return
    try:
        times = characters.measure_characters(program, directory, sizes.characters)
    except _core.RunError as error:
        findings.missing |= dict.fromkeys(CHARACTERS, str(error))
        return
    for name, call, seconds, used in (
        (CHARACTERS[0], "fputc and an fsync", times.write_s, times.write_cpu_s),
        (CHARACTERS[1], "fgetc", times.read_s, times.read_cpu_s),
    ):
        findings.figures[name] = Figure(
            value=sizes.characters / seconds,
            unit="B/s",
            cpu=used / seconds,
            method=characters.METHOD.format(call=call),
            samples=[sizes.characters / seconds],
        )


def _memory_copy(effort: Effort, findings: _Findings) -> None:
    rates, cpu = memory_copy.copy_rates(2 * effort.call_s)
    findings.figures["memory-copy"] = Figure(
        value=statistics.median(rates),
        unit="B/s",
        cpu=cpu,
        method="an array copied by memcpy; bytes copied count once",
        samples=rates,
    )


def _network(peer: str, token: str, effort: Effort, findings: _Findings) -> None:
    """Measure messages of two sizes to a peer and back.

    Raises OSError if it cannot be reached or refuses the token.
    """
    for name, size, unit in (
        ("network-round-trip", ROUND_TRIP, "s"),
        ("network-send", SENT, "B/s"),
    ):
        used, start = _processor_seconds(), time.monotonic()
        document = network.ask(peer, token, [size], seconds=2 * effort.call_s)
        cpu = (_processor_seconds() - used) / (time.monotonic() - start)
        if document["stop"]["reason"] == "interrupted":
            raise KeyboardInterrupt
        (message,) = document["messages"]
        value = 2 * message["latency"]["p50"] if unit == "s" else message["throughput"]
        findings.figures[name] = Figure(
            value=value,
            unit=unit,
            cpu=cpu,
            method=f"TCP messages of {binary_size(size)} to {peer} and back, median",
        )


def _processor_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _self_check(baseline: Baseline, simulated: Sequence[Case], steps: "_Steps") -> None:
    """Add the predictions of the baseline's own measurements; a note if there can be none."""
    chosen = [one for one in simulated if any(r.figure in baseline.figures for r in one.readings)]
    try:
        predicted = predict(
            baseline.machine(), chosen, lambda case: steps.next(f"simulated {case.name}")
        )
    except (ValueError, _core.RunError) as error:
        baseline.notes.append(f"no self-check: {error}")
        return
    for name, figure in baseline.figures.items():
        if name in predicted:
            baseline.self_check.append(
                Prediction(
                    figure=name, measured=figure.value, predicted=predicted[name], unit=figure.unit
                )
            )


def host_settings(directory: str | PathLike[str]) -> tuple[dict[str, str], list[str]]:
    """Return the settings of the kernel for a simulated machine, as TOML values by field, and
    notes on what they lack.

    Raises OSError if there is no such directory.
    """
    try:
        read = kernel_settings(mount_of(directory))
    except _core.ScenarioError as error:
        cores, memory = len(os.sched_getaffinity(0)), psutil.virtual_memory().total
        return coarse_settings(memory, cores), [
            f"{error}: the simulated machine has an {DEFAULT_SYSTEM} with the measured rates"
        ]
    return {setting.field: setting.toml() for setting in read}, []


class _Steps:
    """Progress of a baseline."""

    def __init__(self, on_progress: ProgressCallback | None, total: int) -> None:
        self._on_progress = on_progress
        self._done, self._total = 0, total

    def next(self, name: str) -> None:
        """Report that the last step is done and the next begins."""
        if self._on_progress is not None:
            self._on_progress(self._done, self._total, name)
        self._done += 1
