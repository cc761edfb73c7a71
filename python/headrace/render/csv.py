"""Records of a view as comma-separated values."""

import csv
import io

from headrace.render.blocks import Records, View


def text(view: View) -> str:
    """Return the records of a view as CSV: a header, and a line for each."""
    rows = [row for block in view if isinstance(block, Records) for row in block.rows]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    written = io.StringIO()
    writer = csv.DictWriter(written, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue()
