"""The scenario that `bench run` runs: a preset of a workload, or TOML text."""

from pathlib import Path

from nicegui import ui

from headrace._core import Loaded, ScenarioError, workloads
from headrace.web.jobs import RefusedRequest
from headrace.web.jobs.job import FormPart
from headrace.web.typed import keep

NAME = "scenario.toml"


class ScenarioField:
    """A text in TOML, which a preset fills in."""

    def __init__(self, parameter: str) -> None:
        self._parameter = parameter
        presets = dict(workloads())
        self._preset: ui.select = ui.select(
            {name: f"{name}: {text}" for name, text in presets.items()},
            label="Begin with the preset workload",
            value="ior-easy",
            on_change=lambda: self._fill(str(self._preset.value)),
        ).classes("w-full")
        self._preset.props("outlined dense stack-label")
        # A value that is set later is sent once more behind the page, over what a user has typed.
        self._text = ui.textarea("Scenario (TOML)", value=_scenario_of("ior-easy"))
        self._text.classes("w-full q-my-md").props("input-class=font-mono")
        self._text.props("outlined autogrow stack-label").props["hint"] = (
            "The system of the scenario is ignored: the same text can be simulated."
        )
        self._text.on_value_change(lambda: setattr(self._text, "error", None))
        keep(self._preset, "preset")
        keep(self._text, "scenario")

    def part(self) -> FormPart:
        """Return the scenario of the request. Raises RefusedRequest."""
        text = str(self._text.value or "")
        try:
            Loaded.measured(text, Path(NAME), [])
        except ScenarioError as error:
            self._text.error = str(error)
            raise RefusedRequest(str(error), self._parameter) from None
        return FormPart({self._parameter: f"input:{NAME}"}, {NAME: text})

    def _fill(self, preset: str) -> None:
        self._text.value = _scenario_of(preset)


def _scenario_of(preset: str) -> str:
    return f'name = "{preset}"\n\n[clients]\ncount = 1\n\n[[workload]]\npreset = "{preset}"\n'
