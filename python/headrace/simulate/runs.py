"""Running scenarios."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from headrace import _core
from headrace._core import Loaded, replication_seed
from headrace.calibration_fields import missing_parameters
from headrace.environment import of_host
from headrace.progress_bar import Advance, run_progress
from headrace.quantities import duration
from headrace.simulate.outcome import Document, Outcome, outcome
from headrace.simulate.policies import own_code_error, policies
from headrace.simulate.replications import merge_replications
from headrace.simulate.result import Result
from headrace.simulate.scenario import ScenarioSource, load
from headrace.simulate.schedulers import placements, schedulers
from headrace.simulate.trust import Trust, trust_of
from headrace.trace.readable import readable_traces

if TYPE_CHECKING:
    from headrace.simulate.playback import Playback
    from headrace.simulate.single_requests import InMemory, Requests

Progress: TypeAlias = Callable[[float, int, float | None], object]
"""Callback for the progress of a run: simulated seconds, completed requests, and the completed part
of the run, or None if it is unknown. An exception that it raises stops the run."""


SERVER_SAMPLES = 60
"""Samples of the data servers of a run, or up to twice as many: columns of a heat map."""
MOST_FRAMES = 10_000
"""Most frames of a playback: a net of a thousand nodes takes some GB for them."""


def run(
    scenario: ScenarioSource,
    *,
    requests: "bool | Requests" = False,
    progress: bool | Progress | None = None,
    trust: bool | Trust = False,
    playback: int | None = None,
    over_time: bool = False,
    server_series: bool = True,
) -> Result:
    """Run a scenario, once for each of its `run.replications`.

    Parameters:
        scenario: The scenario to run, or a path, a text or a dictionary, as `load` accepts.
        requests: True collects every single request in `Result.requests`, some 100 bytes each in
            memory. A `Requests` object gets them while the run goes on.
        progress: Whether to show a progress bar; by default on a terminal and in Jupyter. Or a
            callback; see `Progress`.
        trust: True executes the scenario's own scheduler or replacement policy, which is Python
            code in a file with all rights of the user. By default only files that the user has
            trusted before.
        playback: Frames of the first replication to record; up to twice as many are taken.
        over_time: True records dirty bytes, hit ratios and queue lengths over time, of the first
            replication, for `Result.over_time` and the document.
        server_series: False takes no samples of data servers; `Result.server_series` is then empty,
            and other figures are the same.

    Returns:
        The result. With several replications its figures are means, with 95 % confidence
        intervals.

    Raises:
        ScenarioError: if the scenario's own scheduler is missing, is not trusted or cannot be
            created.
        TraceError: if a trace that it replays cannot be read.
        RunError: if the run fails.
        ValueError: if `playback` is not at least 1.
        KeyboardInterrupt: on Ctrl-C, at once.

    Examples:
        >>> result = hr.run("scenarios/striped-read.toml")
        >>> round(result.document["throughput"]["read"] / 1e6)
        240
    """
    if playback is not None and not 1 <= playback <= MOST_FRAMES:
        raise ValueError(f"playback = {playback}: expected a number from 1 to {MOST_FRAMES:,}")
    scenario = load(scenario)
    loaded = scenario.loaded
    environment = of_host()
    replications = loaded.replications
    trusted = trust_of(trust)
    in_memory = _in_memory() if requests is True else None
    taking: Requests | None = in_memory if isinstance(requests, bool) else requests
    recorded: list[Playback] = []
    sampled: list[Document] = []
    frames = playback
    # Before the run, which must not be interrupted by an import.
    if playback is not None:
        from headrace.simulate.playback import playback_of
    if over_time:
        from headrace.simulate.over_time import SAMPLES
        from headrace.simulate.over_time import over_time as sampled_of

        frames = max(playback or 0, SAMPLES)
    with (
        run_progress(scenario.name, progress, _drawing) as report,
        readable_traces(loaded) as traces,
    ):

        def once(number: int) -> Outcome:
            this = loaded
            if replications > 1:
                seed = replication_seed(loaded.seed, number)
                this = loaded.with_sets([f"run.seed={seed}", "run.replications=1"])
            try:
                ended = _core.run(
                    this,
                    requests=_collected(taking, this, with_seed=replications > 1)
                    if taking
                    else None,
                    traces=traces,
                    schedulers=schedulers(this, trusted),
                    placements=placements(this, trusted),
                    policies=policies(this, trusted),
                    progress=report and _part_of(report, number, replications),
                    playback=frames if number == 0 else None,
                    server_samples=SERVER_SAMPLES if server_series else None,
                )
            except (_core.SchedulerFailure, _core.PolicyFailure) as failure:
                error = own_code_error(failure, this)
                raise error from error.__cause__
            if over_time and "playback" in ended:
                sampled.append(sampled_of(ended["playback"]))
            if playback is not None and "playback" in ended:
                recorded.append(playback_of(ended["playback"]))
            return outcome(this, ended)

        every = [once(number) for number in range(replications)]
        merged = every[0] if replications == 1 else merge_replications(every, scenario.toml)
        result = Result(*merged, environment=environment)
    if in_memory is not None:
        result = replace(result, requests=in_memory.frame())
    if recorded:
        result = replace(result, playback=recorded[0])
    if sampled:
        result.document["over_time"] = sampled[0]
    _add_warnings(result, loaded)
    return result


def _add_warnings(result: Result, loaded: Loaded) -> None:
    cautions = [{"condition": test, "message": message} for test, message in loaded.cautions()]
    if warnings := cautions + missing_parameters(loaded) + result.document.pop("warnings", []):
        result.document["warnings"] = warnings


def rerun(result: Result, **options: Any) -> Result:
    """Run a result's scenario again.

    Parameters:
        result: The result; its document has the scenario.
        options: Options of `run`.

    Returns:
        The same result, except for `wall_seconds`.
    """
    return run(load(result.document["scenario"]["toml"]), **options)


def _in_memory() -> "InMemory":
    # Tables alone need polars, which takes longer to import than a small run.
    from headrace.simulate.single_requests import InMemory

    return InMemory()


def _collected(taking: "Requests", loaded: Loaded, *, with_seed: bool) -> Callable[[Any], None]:
    from headrace.simulate.single_requests import collect_requests

    return collect_requests(taking, loaded, with_seed=with_seed)


def _drawing(advance: Advance) -> Progress:
    """Return a callback that draws a bar."""

    def report(seconds: float, requests: int, part: float | None) -> None:
        text = f"{duration(seconds)} simulated, {requests:,} requests"
        advance(part or 0.0, None if part is None else 1.0, text)

    return report


def _part_of(progress: Progress, number: int, replications: int) -> Progress:
    """Tell the progress of one run as that of all."""

    def report(seconds: float, requests: int, part: float | None) -> None:
        if part is not None:
            part = (number + min(part, 1.0)) / replications
        progress(seconds, requests, part)

    return report
