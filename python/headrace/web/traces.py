"""Scenarios that replay the traces that users uploaded."""

from headrace.web.jobs.directory import LINKS


def replay_scenario(name: str, system: str, replay: str = "closed") -> str:
    """Return a scenario of a job that replays an uploaded trace on a system.

    Parameters:
        name: Name of the upload.
        system: A preset of a system.
        replay: `closed`, `timed` or `paced`.
    """

    def quoted(text: str) -> str:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    return "\n".join(
        [
            f"name = {quoted(f'replay of {name}')}",
            f"system = {quoted(system)}",
            "",
            "[clients]",
            "count = 1",
            "",
            "[[workload]]",
            'kind = "trace"',
            f"file = {quoted(f'{LINKS}/{name}')}",
            f"replay = {quoted(replay)}",
            "",
        ]
    )
