"""Quick answers about nets of one's own: checked, run and played."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from headrace._core import NetModel as CoreModel
from headrace._core import parse_seconds
from headrace.drawing.net_player import net_element
from headrace.net.model import NetModel
from headrace.views.net import figure_tables, how_it_ended

NAME = "scenario.toml"
"""Name of a net's text in errors; that of all texts of quick runs."""
LONGEST_S = 1e6
"""Simulated seconds of a run without an end."""
FRAMES = 200


class WrongSetting(ValueError):
    """A field beside the text has an invalid value."""


def check(text: str, sets: Sequence[str]) -> dict[str, Any]:
    """Return the drawn net, and what holds of it."""
    model = _model(text)
    invariants = model.invariants()
    return {
        "name": model.name,
        "element": net_element(model.structure()),
        "always": [f"{sum_} = {value}" for sum_, value in invariants["places"].items()],
        "uncovered": invariants["uncovered"],
    }


def run(text: str, sets: Sequence[str]) -> dict[str, Any]:
    """Return the figures of a run as tables, and its playback."""
    model, settings = _model(text), _settings(sets)
    until = _time(settings, "until")
    result = model.run(
        until if until is not None or model.run_end is not None else LONGEST_S,
        seed=_number(settings, "seed"),
        replications=_number(settings, "replications"),
        playback=FRAMES,
    )
    tables = [
        {
            "title": table.title,
            "columns": [column.name for column in table.columns],
            "rows": list(zip(*(column.cells() for column in table.columns), strict=True)),
        }
        for table in figure_tables(result)
    ]
    curves = {name: result.transient(name).to_dict(as_series=False) for name in result.over_time}
    return {
        "tables": tables,
        "curves": curves,
        "end": list(how_it_ended(result)),
        "element": net_element(model.structure(), playback=result.playback),
    }


def play(text: str, sets: Sequence[str]) -> dict[str, Any]:
    """Return a drawing in which tokens move."""
    model, settings = _model(text), _settings(sets)
    steps = _number(settings, "steps") or 100
    try:
        animation = model.play(seed=_number(settings, "seed")).animate(steps)
    except ValueError as error:
        raise WrongSetting(str(error)) from None
    return {"element": animation.element}


WORK: Mapping[str, Callable[[str, Sequence[str]], dict[str, Any]]] = {
    "net-check": check,
    "net-run": run,
    "net-play": play,
}


def _model(text: str) -> NetModel:
    return NetModel(CoreModel.from_text(text, "toml", NAME, "net"), text)


def _settings(sets: Sequence[str]) -> dict[str, str]:
    pairs = (setting.partition("=") for setting in sets)
    return {name: value.strip() for name, _, value in pairs if value.strip()}


def _time(settings: Mapping[str, str], name: str) -> float | None:
    try:
        return parse_seconds(settings[name]) if name in settings else None
    except ValueError as error:
        raise WrongSetting(f"{name} = {settings[name]}: {error}") from None


def _number(settings: Mapping[str, str], name: str) -> int | None:
    text = settings.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise WrongSetting(f"{name} = {text}: expected a whole number")
    return int(text)
