"""`headrace doctor`."""

import json

from headrace.cli.options import AsJson


def doctor(as_json: AsJson = False) -> None:
    """Report which optional parts this machine has and lacks.

    Each part is shown with the commands that need it. A part that is absent is shown with the
    package, mount or permission that provides it. The command changes nothing and needs no root.
    The exit status is 0 also if parts are absent.
    """
    from headrace.doctor import diagnose

    diagnosis = diagnose()
    if as_json:
        print(json.dumps(diagnosis.json(), allow_nan=False, indent=2))
        return
    from headrace.cli.screen import FOLDED, show_view
    from headrace.views.doctor import view

    show_view(view(diagnosis), redirected_width=FOLDED)
