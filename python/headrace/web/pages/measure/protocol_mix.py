"""The wanted protocol mix of `bench tune`, entered in the page."""

from nicegui import ui

from headrace.measure.tuning import TARGETS
from headrace.web.jobs import RefusedRequest
from headrace.web.jobs.job import FormPart
from headrace.web.typed import keep

OWN = "target.toml"
EXAMPLE = "\n".join(f"{name} = {value}" for name, value in TARGETS["sfs-nfsv3"].items())
HINT = (
    "A line for each protocol operation with its weight, such as read = 18: procedures of NFS, or"
    " of CIFS if the profiler counts those."
)


class ProtocolMix:
    """Presets of NFS in the parameter `target`, or weights of one's own, for NFS or CIFS."""

    def __init__(self) -> None:
        ui.label(f"Targets that are known: {', '.join(TARGETS)}.").classes("text-sm")
        own = ui.switch("Enter a mix of NFS or CIFS operations as the target")
        self._own = keep(own, "own target")
        self._text = keep(ui.textarea("Wanted mix", value=EXAMPLE), "wanted mix")
        self._text.classes("w-full font-mono")
        self._text.props("outlined autogrow").props["hint"] = HINT
        self._text.bind_visibility_from(self._own, "value")

    def part(self) -> FormPart:
        """Return the target of the request. Raises RefusedRequest."""
        if not self._own.value:
            return FormPart()
        text = str(self._text.value or "").strip()
        if not text:
            self._text.error = "expected a line such as read = 18"
            raise RefusedRequest("the wanted mix: expected a line such as read = 18")
        self._text.error = None
        return FormPart({"target": f"input:{OWN}"}, {OWN: text + "\n"})
