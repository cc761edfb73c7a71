"""Results of jobs in the store."""

import logging

LABEL = "job"
"""Label of a result: the identifier of its job."""

log = logging.getLogger("headrace.web.jobs")


def result_of(job: str) -> str | None:
    """Return the identifier of a job's result in the store; None if it has none."""
    from headrace import store

    try:
        listed = store.open().listed(store.make_filter(labels={LABEL: job}, limit=1))
    except (store.StoreError, store.StoreFailure, OSError) as error:
        log.warning("cannot look for the result of job %s: %s", job, error)
        return None
    return str(listed.entries[0]["id"]) if listed.entries else None
