"""`headrace schema`."""

import json

from headrace import _core


def schema() -> None:
    """Print the JSON Schema of scenario files, for editors."""
    print(json.dumps(json.loads(_core.schema()), indent=2))
