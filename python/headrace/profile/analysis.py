"""Evaluate a recording: its figures, phases, verdicts and advice."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from headrace.profile import recording
from headrace.profile.activity import activity
from headrace.profile.advice.saved_scenario import remove_scenarios
from headrace.profile.baseline import Baseline
from headrace.profile.capture import METHODS, start_time
from headrace.profile.capture.attachment import merge_parts
from headrace.profile.capture.overhead import tracer_cost
from headrace.profile.characterise import CharacterisingReader
from headrace.profile.document import CaptureText, HostVerdict, Prediction, Profile, Usage
from headrace.profile.figures import cores_of
from headrace.profile.header import SAMPLES, Header
from headrace.profile.interval_means import mean_over_time
from headrace.profile.machine_model import machine_of
from headrace.profile.paced_trace import paced, with_gaps
from headrace.profile.phase_advice import Application, advise_phase
from headrace.profile.rules import load_rules
from headrace.profile.verdict import judge, limited_s, overall
from headrace.profile.workload_fit import fit
from headrace.progress_events import OnStep
from headrace.store import StoreFailure
from headrace.trace import open_trace

STEPS = 5
PER_CORE = r"^cpu\.\d+\."


def analyse(
    directory: str | Path,
    *,
    machine: str | Path | None = None,
    baseline_directory: str | Path | None = None,
    rules: Path | None = None,
    advice: bool = True,
    rates: Mapping[str, pl.DataFrame] | None = None,
    on_progress: OnStep | None = None,
) -> Profile:
    """Return the profile of a recording: phases, verdicts, evidence and advice.

    Parameters:
        directory: The profile directory.
        machine: Machine file or scenario for predictions; by default the baseline's machine.
        baseline_directory: Directory whose baseline counts.
        rules: File that changes rules of verdicts.
        advice: Whether to predict the gain of changes.
        rates: Figures of each host, as `rates_by_host` returns them; read if they are not given.
        on_progress: Gets the steps done.

    Raises:
        OSError: if there is no recording.
        ValueError: if the recording, the trace, a rule or the machine is invalid.
    """
    directory = Path(directory)
    report = on_progress or (lambda *_: None)
    header = recording.read_header(directory)
    applied = load_rules(rules)
    # Before anything is evaluated: it may be wrong.
    chosen_machine = None if machine is None else machine_of(Path(machine))
    profile = Profile(
        version=header.version,
        name=header.name,
        command=header.command,
        started=header.started,
        duration_s=header.duration_s or 0.0,
        exit_status=header.exit_status,
        interval_s=header.interval_s,
        hosts=header.hosts,
        verdict=None,
        phases=[],
        samples=SAMPLES,
        environment=header.environment,
    )
    report(0, STEPS, "samples")
    by_host = rates_by_host(directory) if rates is None else rates
    _add_usage(profile, by_host, header)
    first = by_host[header.hosts[0]]
    profile.host = header.hosts[0]
    baseline = _baseline(profile, baseline_directory)
    report(1, STEPS, "trace")
    records = _trace(profile, directory, header)
    report(2, STEPS, "workload of the trace")
    if profile.characteristics is not None and profile.trace is not None:
        _add_workload(profile, directory / profile.trace)
    report(3, STEPS, "phases")
    disks = traced_disk(records, first, header.environment)
    for host, frame in by_host.items():
        if not frame.height:
            profile.notes.append(f"no verdict: {SAMPLES} has fewer than two samples of {host}")
        # The baseline is that of the first host's directory.
        known = baseline if host == header.hosts[0] else _baseline_of(host, baseline_directory)
        phases = judge(
            frame,
            known,
            applied,
            disks=disks,
            trace=records,
            stops=header.capture is not None and METHODS[header.capture].stops,
            of_directory=header.environment.get("device"),
        )
        profile.host_verdicts.append(HostVerdict(host=host, verdict=overall(phases), phases=phases))
    # Of hosts that are limited equally long, but for an interval, the first one counts.
    longest_s = max(limited_s(one.phases) for one in profile.host_verdicts)
    chosen = next(
        it for it in profile.host_verdicts if limited_s(it.phases) >= longest_s - header.interval_s
    )
    profile.host, profile.verdict, profile.phases = chosen.host, chosen.verdict, chosen.phases
    if len(by_host) == 1:
        profile.host_verdicts = []
    # The trace is that of the first host.
    traced = records if profile.host == header.hosts[0] else None
    sampled = recording.processes(directory, profile.host)
    if sampled["pid"].n_unique() == 1:
        by_thread = recording.threads(directory, profile.host)
        sampled = by_thread if by_thread.height else sampled
    profile.activity = activity(sampled, traced, profile.duration_s)
    if advice and records is not None and profile.phases:
        _add_advice(profile, records, first, baseline, chosen_machine, directory, report)
    return profile


def rates_by_host(directory: str | Path) -> dict[str, pl.DataFrame]:
    """Return the figures of each host of a recording, as `recording.rates` does."""
    return {host: recording.rates(directory, host) for host in recording.hosts(directory)}


def _add_usage(profile: Profile, rates: Mapping[str, pl.DataFrame], header: Header) -> None:
    """Add the figures of all hosts."""
    for host, frame in rates.items():
        profile.usage[host] = usage_of(frame)
        if header.duration_s is None and frame.height:
            last = float(frame["to_s"].max())  # type: ignore[arg-type]
            profile.duration_s = max(profile.duration_s, last)
    if header.duration_s is None:
        profile.notes.append("the recording was interrupted: its end is that of the last sample")


def _baseline(profile: Profile, directory: str | Path | None) -> Baseline | None:
    """Return the baseline of a directory, and note in the profile what is wrong with it."""
    if directory is None:
        return None
    try:
        latest = Baseline.find(directory)
    except (OSError, ValueError, StoreFailure) as error:
        profile.notes.append(f"no baseline can be read: {error}")
        return None
    if latest is None:
        return None
    changed = latest.outdated(directory)
    profile.baseline = {
        "id": latest.id,
        "started": latest.environment.get("started"),
        "figures": msgspec.to_builtins(latest.figures),
        "changed_since": changed,
    }
    profile.notes.extend(f"the baseline is out of date: {reason}" for reason in changed)
    if (age := latest.age_note()) is not None:
        profile.notes.append(age)
    return latest


def _baseline_of(host: str, directory: str | Path | None) -> Baseline | None:
    """Return the baseline of another host for the same directory, if the store has one."""
    if directory is None:
        return None
    try:
        return Baseline.find(directory, host)
    except (OSError, ValueError, StoreFailure):
        return None


def _trace(profile: Profile, directory: Path, header: Header) -> pl.DataFrame | None:
    """Return the captured trace with gaps. Add its characteristics, and note what the capture
    leaves out."""
    if header.capture is None:
        return None
    method = METHODS[header.capture]
    path = directory / f"trace{method.suffix}"
    profile.capture = CaptureText(method.name, method.left_out())
    if header.not_captured:
        profile.notes.append(f"{header.not_captured} running processes could not be captured")
    # A killed profiler leaves parts.
    merge_parts(path)
    if not path.is_file():
        profile.notes.append(f"the capture by {method.name} left no trace")
        return None
    profile.trace = path.name
    profile.capture.counts = method.counts(path)
    if path.stat().st_size == 0:
        return None
    try:
        reader = CharacterisingReader(open_trace(path))
        records = paced(reader)
        profile.characteristics = msgspec.to_builtins(reader.characteristics())
    except ValueError as error:
        # A program without a file operation leaves a trace in which nothing is understood.
        profile.notes.append(f"the trace cannot be evaluated: {error}")
        return None
    # Of a trace without times of day: both begin with the program.
    begun = start_time(path)
    if begun is None:
        return records
    offset_s = begun - datetime.fromisoformat(header.started).timestamp()
    return with_gaps(records.with_columns(pl.col("time_ns") + round(offset_s * 1e9)))


def traced_disk(
    records: pl.DataFrame | None, rates: pl.DataFrame, environment: Mapping[str, Any]
) -> list[str] | None:
    """Return the disk of the profile's directory, if it holds most of the files that the trace
    reads and writes. None if it is unknown: any disk may then be the program's."""
    mount, device = environment.get("mount_point"), environment.get("device")
    # Other file systems are mounted below the root.
    if records is None or not mount or mount == "/" or f"disk.{device}.queue" not in rates.columns:
        return None
    data = records.filter(pl.col("operation").cast(pl.String).is_in(["read", "write"]))
    below = data.filter(pl.col("file").str.starts_with(f"{mount}/"))
    is_most = 2 * int(below["size"].sum()) > int(data["size"].sum())
    return [str(device)] if is_most else None


def _add_workload(profile: Profile, trace: Path) -> None:
    try:
        profile.workload = msgspec.to_builtins(fit(trace, profile.characteristics))
    except ValueError as error:
        profile.notes.append(f"no synthetic workload: {error}")


def _add_advice(
    profile: Profile,
    records: pl.DataFrame,
    rates: pl.DataFrame,
    baseline: Baseline | None,
    machine: str | None,
    directory: Path,
    report: OnStep,
) -> None:
    """Add the changes of each phase whose predicted gain is large enough."""
    model = "machine file"
    if machine is None:
        if baseline is None:
            profile.notes.append(
                "no prediction: it needs a baseline (headrace baseline DIR) or --machine FILE"
            )
            return
        try:
            machine, model = baseline.machine(), "baseline"
        except ValueError as error:
            profile.notes.append(f"no prediction: {error}")
            return
    assert profile.capture is not None
    cost = tracer_cost(METHODS[profile.capture.method].wrap)
    added = () if cost is None else (cost.gap_s, cost.system_s)
    tracer_s, system_s = [max(time_s.value, 0.0) for time_s in added] or (0.0, 0.0)
    figures = {} if baseline is None else {n: one.value for n, one in baseline.figures.items()}
    known = (figures, tracer_s, directory, system_s, model != "baseline")
    application = Application(records, rates, machine, cores_of(rates), *known)
    remove_scenarios(directory)
    phases = []
    for number, phase in enumerate(profile.phases):
        report(STEPS - 1, STEPS, f"advice for phase {number + 1} of {len(profile.phases)}")
        phases.append(advise_phase(phase, application, number=number + 1))
    recorded = sum(each.without_tracer_s for each in phases)
    simulated = [each.simulated_s for each in phases if each.simulated_s is not None]
    complete = len(simulated) == len(phases) and recorded > 0
    profile.prediction = msgspec.to_builtins(
        Prediction(
            machine=model,
            tracer_s_per_call=None if cost is None else tracer_s,
            phases=phases,
            recorded_s=recorded,
            simulated_s=sum(simulated) if complete else None,
            error=sum(simulated) / recorded - 1 if complete else None,
        )
    )


def usage_of(frame: pl.DataFrame) -> dict[str, Usage]:
    """Return mean and peak of each column but those of single cores.

    Means are weighted with the lengths of the intervals.
    """
    figures = frame.select(pl.exclude("from_s", "to_s").exclude(PER_CORE))
    usage = {}
    for name in figures.columns:
        mean = mean_over_time(frame, name)
        if mean is not None:
            usage[name] = Usage(mean=mean, peak=float(figures[name].max()))  # type: ignore[arg-type]
    return usage


def stored_document(profile: Profile) -> dict[str, object]:
    """Return the document as the store has it: with the fields by which it is listed."""
    return {
        **msgspec.to_builtins(profile),
        "scenario": {"name": profile.name},
        "wall_seconds": profile.duration_s,
    }


def samples_table(rates: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the figures of all hosts, with a column `host`, as the store has them."""
    frames = [frame.select(pl.lit(host).alias("host"), pl.all()) for host, frame in rates.items()]
    return pl.concat(frames, how="diagonal")
