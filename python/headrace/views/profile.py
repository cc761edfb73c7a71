"""A profile: the use of each host, and the phases with their verdicts, evidence and advice."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean

from headrace.fields import to_document
from headrace.plain_text import plain_line
from headrace.profile.document import Evidence, Phase, Profile, Usage
from headrace.quantities import duration, figure, megabytes, percent, size, whole
from headrace.render.blocks import Block, Headline, Note, Table, View
from headrace.views import calls, time_balance
from headrace.views.profile_values import (
    NO_VERDICT,
    by_level,
    error_text,
    host_row,
    share_of,
    times,
    with_unit,
)
from headrace.views.verdict_words import verdict_words

Format = Callable[[float], str]
NO_ADVICE = "No change has a predicted gain that is large enough to be advised."
REDIRECTED_WIDTH = 80
"""Columns of a file or pipe that shows the figures of the evidence."""


def _rate(value: float) -> str:
    return f"{megabytes(value)} MB/s"


def _share(value: float) -> str:
    return f"{percent(value)} %"


ROWS: tuple[tuple[str, str, str, Format], ...] = (
    ("processors", "user", "cpu.user", _share),
    ("", "system", "cpu.system", _share),
    ("", "I/O wait", "cpu.iowait", _share),
    ("", "steal", "cpu.steal", _share),
    ("memory", "used", "memory.used_bytes", size),
    ("", "page cache", "memory.cached_bytes", size),
    ("", "dirty", "memory.dirty_bytes", size),
    ("process tree", "processors, user", "tree.user", figure),
    ("", "processors, system", "tree.system", figure),
    ("", "processors, busiest thread", "tree.busiest_thread", figure),
    ("", "threads", "tree.threads", whole),
    ("", "resident memory", "tree.resident_bytes", size),
    ("", "read from devices", "tree.read_bytes_per_s", _rate),
    ("", "written to devices", "tree.write_bytes_per_s", _rate),
    ("", "read by calls", "tree.read_call_bytes_per_s", _rate),
    ("", "written by calls", "tree.write_call_bytes_per_s", _rate),
)
"""Group, name, column of the samples, and format of the rows of every host."""
TRANSFERS = (("read", "read_bytes_per_s", _rate), ("write", "write_bytes_per_s", _rate))
MESSAGES = (("receive", "receive_bytes_per_s", _rate), ("send", "send_bytes_per_s", _rate))
DEVICES: tuple[tuple[str, str, tuple[tuple[str, str, Format], ...]], ...] = (
    ("disk.", "disk", (*TRANSFERS, ("utilisation", "utilisation", _share))),
    ("net.", "interface", MESSAGES),
    ("infiniband.", "InfiniBand", MESSAGES),
    ("nfs.", "NFS", TRANSFERS),
    ("lustre.", "Lustre", TRANSFERS),
)
"""Prefix of the columns, kind, and rows of every device that was used."""


def view(profile: Profile) -> View:
    """Return mean and peak of the main figures of each host."""
    several = len(profile.hosts) > 1
    return [
        Note("", plain_line(f"{profile.name}: {_time(profile)}")),
        headline(profile),
        *(
            _host(host if several else "", profile.usage[host])
            for host in profile.hosts
            if host in profile.usage
        ),
        *(Note(f"note: {note}") for note in profile.notes),
    ]


def headline(profile: Profile) -> Headline:
    """Return the time that was recorded, and the number of its phases."""
    phases = whole(len(profile.phases))
    return Headline({"recorded": duration(profile.duration_s), "phases": phases})


def _time(profile: Profile) -> str:
    status = profile.exit_status
    ended = f", exit status {status}" if isinstance(status, int) else ""
    return f"{duration(profile.duration_s)}{ended}"


def _host(title: str, usage: Mapping[str, Usage]) -> Table:
    rows = [
        (group, name, *_cells(usage[column], shown))
        for group, name, column, shown in ROWS
        if column in usage
    ]
    for prefix, kind, figures in DEVICES:
        for device in _devices(usage, prefix, [column for _, column, _ in figures]):
            for number, (name, column, shown) in enumerate(figures):
                if (figure_usage := usage.get(f"{prefix}{device}.{column}")) is not None:
                    head = f"{kind} {device}" if number == 0 else ""
                    rows.append((head, name, *_cells(figure_usage, shown)))
    return Table.of_rows(title, ("", "figure", "mean", "peak"), rows, 2)


def _devices(usage: Mapping[str, Usage], prefix: str, columns: Sequence[str]) -> list[str]:
    """Return the devices that were used at all."""
    used: dict[str, None] = {}
    for name, figure_usage in usage.items():
        device, _, column = name.removeprefix(prefix).rpartition(".")
        if name.startswith(prefix) and column in columns and figure_usage.peak > 0:
            used[device] = None
    return list(used)


def _cells(usage: Usage, shown: Format) -> tuple[str, str]:
    return shown(usage.mean), shown(usage.peak)


def verdicts(profile: Profile) -> View:
    """Return verdict, phases, evidence, advice and notes of a profile."""
    phases = profile.phases
    blocks: list[Block] = [heading(profile)]
    if profile.host_verdicts:
        blocks.append(_hosts(profile))
    blocks.append(phases_table(phases, profile.duration_s))
    if (balance := time_balance.table([phase.balance for phase in phases])) is not None:
        blocks.append(balance)
    if any(phase.evidence for phase in phases):
        blocks.append(_evidence(phases))
    if any(phase.advice for phase in phases):
        blocks += _advice(phases)
    elif phases:
        blocks.append(Note(f"\n{NO_ADVICE}"))
    if (trace := calls.characteristics_of(profile.characteristics)) is not None:
        blocks += calls.view(trace)
    blocks += calls.activity_map(profile.activity)
    lines = [
        f"phase {number}: {plain_line(note)}"
        for number, phase in enumerate(phases, 1)
        for note in phase.notes
    ]
    lines += map(plain_line, profile.notes)
    return [*blocks, *([Note("\n" + "\n".join(lines), style="minor")] if lines else [])]


def heading(profile: Profile) -> Note:
    """Return the name, the verdict and the duration of the run."""
    words = verdict_words(profile.verdict or None)
    if profile.verdict:
        limit = f"limited by {words.limit} ({profile.verdict})"
        if len(profile.hosts) > 1 and profile.host:
            limit += f" on {plain_line(profile.host)}"
    else:
        limit = f"{words.limit} ({NO_VERDICT})" if profile.phases else "no verdict"
    parts = time_balance.main_parts([phase.balance for phase in profile.phases])
    run = f"{_time(profile)}: {parts}" if parts else _time(profile)
    known = [
        (phase.confidence, phase.to_s - phase.from_s)
        for phase in profile.phases
        if phase.confidence is not None
        and phase.verdict == profile.verdict
        and phase.to_s > phase.from_s
    ]
    if profile.verdict and known:
        run += f"; confidence {_share(fmean(*zip(*known, strict=True)))}"
    return Note(run, f"{plain_line(profile.name)}: {limit}\n")


def _hosts(profile: Profile) -> Table:
    """Return the table of the hosts' verdicts: each with its share of the run."""
    return Table.of_rows(
        "Hosts",
        ("host", "verdict", "others", "phases", "share %"),
        [[*map(plain_line, host_row(host))] for host in to_document(profile.host_verdicts)],
        3,
        ("others",),
        caption=f"phases, evidence and advice below: {plain_line(profile.host or '')}, which is"
        " limited longest",
    )


def phases_table(phases: Sequence[Phase], duration_s: float) -> Table:
    """Return verdict, best change and time of each phase."""
    total = duration_s or 1.0
    rows = []
    for number, phase in enumerate(phases, 1):
        best = max(phase.advice, key=lambda advice: advice.predicted_gain, default=None)
        rows.append(
            (
                str(number),
                phase.verdict or NO_VERDICT,
                "" if best is None else best.change,
                figure(phase.from_s),
                figure(phase.to_s),
                percent((phase.to_s - phase.from_s) / total),
                "" if best is None else times(best.predicted_gain),
                "" if best is None else error_text(best.error),
            )
        )
    columns = ("phase", "verdict", "best advice", "from s", "to s", "share %", "predicted speed")
    spare = ("model error", "share %")
    return Table.of_rows("Phases", (*columns, "model error"), rows, 3, spare)


def _evidence(phases: Sequence[Phase]) -> Table:
    """Return the table of figures that support the verdicts."""
    rows = []
    decided = []
    for number, phase in enumerate(phases, 1):
        rules = dict.fromkeys(plain_line(evidence.rule) for evidence in phase.evidence)
        if rules:
            decided.append(f"phase {number}: {', '.join(rules)}")
        for evidence in phase.evidence:
            baseline = evidence.baseline
            share = "" if baseline is None else share_of(evidence.value, baseline)
            name, *values, rule = _figures(evidence)
            rows.append((str(number), name, *values, share, rule))
    return Table.of_rows(
        "Evidence",
        ("phase", "figure", "value", "baseline", "of it", "rule"),
        rows,
        2,
        ("rule",),
        narrow_caption="rules of " + "; ".join(decided),
        redirected_width=REDIRECTED_WIDTH,
    )


def _figures(evidence: Evidence) -> tuple[str, str, str, str]:
    """Return name, value, baseline and rule of a figure."""
    baseline = evidence.baseline
    return (
        plain_line(evidence.figure),
        with_unit(evidence.value, evidence.unit),
        "" if baseline is None else with_unit(baseline, evidence.unit),
        plain_line(evidence.rule),
    )


def _advice(phases: Sequence[Phase]) -> Iterator[Block]:
    """Yield the table of changes by level and the time that they save, and each in words."""
    advised = by_level(to_document(phases))
    rows = []
    for level, change in advised:
        phase, gain, error = change.best
        saved = duration(change.saved_s)
        cells = (times(gain), error_text(error), str(phase), saved)
        rows.append((level, plain_line(change.name), *cells))
    yield Table.of_rows(
        "Advice",
        ("level", "change", "predicted speed", "model error", "phase", "saves"),
        rows,
        2,
        caption="simulated, each change alone; model error: the simulated phase without a change"
        " beside the recorded one; saves: of the whole run",
    )
    words = (f"{plain_line(one.name)}: {plain_line(one.description)}" for _, one in advised)
    yield Note("\n" + "\n".join(words))


def phase_name(number: int, phase: Phase) -> str:
    """Return a phase with its verdict and time."""
    span = f"{figure(phase.from_s)} to {figure(phase.to_s)} s"
    return f"Phase {number}: {phase.verdict or NO_VERDICT}, {span}"


def phase_view(phase: Phase) -> View:
    """Return the verdict of a phase in words, its evidence, and advice with its predicted gain."""
    words = verdict_words(phase.verdict or None)
    limit = f"Limited by {words.limit}. {words.meaning}" if phase.verdict else words.meaning
    if phase.confidence is not None:
        limit += f" Confidence: {percent(phase.confidence)} %."
    blocks: list[Block] = [Note(limit)]
    if (balance := time_balance.table([phase.balance])) is not None:
        blocks.append(balance)
    if phase.evidence:
        rows = [
            (name, rule, plain_line(evidence.source), value, baseline)
            for evidence in phase.evidence
            for name, value, baseline, rule in [_figures(evidence)]
        ]
        headings = ("figure", "rule", "source", "value", "baseline")
        blocks.append(Table.of_rows("Evidence", headings, rows, 3))
    if phase.advice:
        advised = [
            (level, one.name, plain_line(one.description), times(gain), error_text(error))
            for level, one in by_level(to_document([phase]))
            for _, gain, error in one.gains
        ]
        columns = ("level", "change", "in words", "predicted speed of the phase", "model error")
        blocks.append(Table.of_rows("Advice", columns, advised, 3))
    else:
        blocks.append(Note(NO_ADVICE))
    return [*blocks, *map(Note, phase.notes)]
