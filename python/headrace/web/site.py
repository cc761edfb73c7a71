"""The parts of a running server, for pages and the API."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from headrace.monitors.service import Monitors
from headrace.web.access.paths import PathPolicy
from headrace.web.job_samples import JobSamples
from headrace.web.jobs import CommandForm, JobQueue
from headrace.web.jobs.watch import Watches
from headrace.web.monitor_series import Readings
from headrace.web.quick_run import QuickRuns
from headrace.web.settings import GIB, Settings
from headrace.web.uploads import Uploads

if TYPE_CHECKING:
    from headrace.store import Store


class Site:
    """A running server."""

    def __init__(self, settings: Settings, forms: Iterable[CommandForm]) -> None:
        self.settings = settings
        self.forms = {form.command: form for form in forms}
        """Parameters of all commands, by command."""
        self.paths = PathPolicy(settings)
        self.uploads = Uploads(settings)
        self.jobs = JobQueue(settings, self.forms, self.paths.for_job)
        self.quick = QuickRuns(directories=settings.directories, processes=settings.cores + 1)
        """Small scenarios that run at once. Belongs to the server's event loop."""
        self.calculations = QuickRuns(seconds=30.0, memory=4 * GIB)
        """Calculations of designs, likewise."""
        self.watches = Watches(self.jobs)
        self.monitors = Monitors(
            settings.data,
            interval_s=settings.monitor_interval_s,
            is_local_monitored=settings.is_monitored,
            agents=settings.agents,
        )
        self.readings = Readings(self.monitors.history, self.jobs)
        """The history for charts."""
        self.job_samples = JobSamples(self.jobs, self.monitors)

    def store(self) -> "Store":
        """Return the store of results. Raises StoreFailure if it cannot be opened."""
        from headrace import store

        return store.open()

    def close(self) -> None:
        """End what the server itself does. Jobs go on."""
        self.jobs.close()
        self.job_samples.close()
        self.monitors.close()


_site: Site | None = None


def open_site(settings: Settings, forms: Iterable[CommandForm]) -> Site:
    """Make the server's parts. A process has one server."""
    global _site
    _site = Site(settings, forms)
    return _site


def site() -> Site:
    """Return the running server."""
    if _site is None:
        raise RuntimeError("no server runs in this process")
    return _site
