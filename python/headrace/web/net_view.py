"""A scenario's net, drawn and played."""

import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nicegui import app, ui
from nicegui.events import ValueChangeEventArguments

from headrace import __version__
from headrace.drawing.net_player import SCRIPT, STEPS_SCRIPT, net_element

if TYPE_CHECKING:
    from headrace.simulate import Playback

URL = f"/net-player/{__version__}/player.js"
STEPS_URL = f"/net-player/{__version__}/steps.js"


class NetView:
    """The picture of a net, which can be zoomed and, with a playback, played.

    Drawing a large net takes seconds: `NetView.prepare` does it and may run in a thread
    (`run.io_bound`), and the constructor takes what it returns.
    """

    def __init__(
        self,
        structure: Mapping[str, Any] | str,
        stations: Iterable[Mapping[str, Any]] | None = None,
        playback: "Playback | None" = None,
    ) -> None:
        """Show a net.

        Parameters:
            structure: The net, as `Scenario.structure()` returns it, or what `prepare` returned.
            stations: `stations` of a result's document, which shade the picture without playback.
            playback: Frames of a run of this net.

        Raises:
            StructureError: if the structure is not that of a net.
            ValueError: if the playback is of another net.
        """
        if not isinstance(structure, str):
            structure = self.prepare(structure, stations, playback)
        # All text in it is escaped where it is drawn.
        self.element = ui.html(structure, sanitize=False).classes("w-full")
        ui.run_javascript(f"import({STEPS_URL!r}).then(() => import({URL!r}))")

    @staticmethod
    def prepare(
        structure: Mapping[str, Any],
        stations: Iterable[Mapping[str, Any]] | None = None,
        playback: "Playback | None" = None,
    ) -> str:
        """Draw a net for a view. Parameters and errors are those of the constructor."""
        return net_element(structure, stations=stations, playback=playback)


def show_playback(path: Path) -> None:
    """Offer to play a run from its frames, if there are any. They are read when asked for."""
    if not path.is_file():
        return
    expansion = ui.expansion("The net at work", icon="play_circle").classes("w-full")

    async def draw() -> None:
        expansion.clear()
        with expansion:
            ui.spinner().props('aria-label="The net is being drawn"')
        try:
            prepared = await asyncio.to_thread(_prepared, path)
        except (OSError, ValueError) as error:
            expansion.clear()
            with expansion:
                ui.label(str(error)).props('role="alert"')
            return
        expansion.clear()
        with expansion:
            NetView(prepared)

    async def opened(change: ValueChangeEventArguments[bool]) -> None:
        if change.value and not drawn:
            drawn.append(True)
            await draw()

    drawn: list[bool] = []
    expansion.on_value_change(opened)


def _prepared(path: Path) -> str:
    from headrace.simulate import load_playback

    playback = load_playback(path)
    return NetView.prepare(playback.structure, playback=playback)


app.add_static_file(local_file=SCRIPT, url_path=URL, max_cache_age=0)
app.add_static_file(local_file=STEPS_SCRIPT, url_path=STEPS_URL, max_cache_age=0)
