"""A scenario's net, drawn and played."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from nicegui import app, ui

from headrace import __version__
from headrace.report.net_player import SCRIPT, net_element

if TYPE_CHECKING:
    from headrace.simulate import Playback

URL = f"/net-player/{__version__}/player.js"


class NetView:
    """The picture of a net, which can be zoomed and, with a playback, played.

    Drawing a large net takes some hundred milliseconds: `NetView.prepare` does it and may run in
    a thread (`run.io_bound`), and the constructor takes what it returns.
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
        ui.run_javascript(f"import({URL!r})")

    @staticmethod
    def prepare(
        structure: Mapping[str, Any],
        stations: Iterable[Mapping[str, Any]] | None = None,
        playback: "Playback | None" = None,
    ) -> str:
        """Draw a net for a view. Parameters and errors are those of the constructor."""
        return net_element(structure, stations=stations, playback=playback)


app.add_static_file(local_file=SCRIPT, url_path=URL, max_cache_age=0)
