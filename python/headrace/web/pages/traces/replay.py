"""A trace replayed in a simulated system."""

from nicegui import ui

from headrace.web.access.users import User
from headrace.web.jobs import JobRequest, RefusedRequest
from headrace.web.layout import heading
from headrace.web.page import submit_and_follow, submit_button
from headrace.web.traces import complete_systems, replay_scenario
from headrace.web.typed import keep

REPLAYS = {
    "closed": "closed: each request when the previous one is done",
    "timed": "timed: each request at its recorded time",
    "paced": "paced: after the previous one and the recorded gap",
}
SCENARIO = "scenario.toml"


def draw_replay(user: User, name: str) -> None:
    """Draw the form that simulates a trace."""
    heading("Simulate this trace")
    systems = {key: f"{key}: {text}" for key, (text, _) in complete_systems().items()}
    system = ui.select(systems, label="System", value="ext4", on_change=lambda: fill())
    replay = ui.select(REPLAYS, label="Times", value="closed", on_change=lambda: fill())
    for box in (system, replay):
        box.classes("w-full q-mb-md").props("outlined dense stack-label")
    text = keep(ui.textarea("Scenario (TOML)"), "scenario").classes("w-full q-mb-md")
    text.props("outlined autogrow stack-label input-class=font-mono")
    error = ui.label().classes("text-negative").props('role="alert"')

    def fill() -> None:
        text.value = replay_scenario(name, str(system.value), str(replay.value))

    async def start() -> None:
        error.set_text("")
        request = JobRequest(
            command=("run",),
            values={"file": f"input:{SCENARIO}"},
            inputs={SCENARIO: str(text.value)},
            title=f"Replay of {name} on {system.value}",
        )
        try:
            await submit_and_follow(request, user)
        except RefusedRequest as refused:
            error.set_text(str(refused))

    fill()
    keep(system, "system")
    keep(replay, "times")
    submit_button("Simulate", start, icon="play_arrow")
