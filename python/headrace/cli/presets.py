"""`headrace presets`."""

from headrace import _core


def presets() -> None:
    """List the known systems that a scenario can start from."""
    known = _core.presets()
    width = max(len(name) for name, _ in known)
    for name, description in known:
        print(f"{name:{width}}  {description}")
