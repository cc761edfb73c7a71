"""Execute the notebooks of docs/notebooks and save them with their outputs.

python tools/notebooks.py [NOTEBOOK ...]
"""

import sys
from collections.abc import Iterable
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

NOTEBOOKS = Path(__file__).parents[1] / "docs" / "notebooks"
PATIENCE_S = 120


def execute(path: Path) -> NotebookNode:
    """Execute a notebook in its folder.

    Raises:
        CellExecutionError: A cell fails.
    """
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, timeout=PATIENCE_S, resources={"metadata": {"path": str(path.parent)}}
    )
    client.execute()
    for cell in notebook.cells:
        # Times of execution differ each time, and outputs that were removed are empty.
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = _joined(it for it in cell.outputs if not _is_empty(it))
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


def _joined(outputs: Iterable[NotebookNode]) -> list[NotebookNode]:
    """Join parts of a text that the kernel sent at different times."""
    joined: list[NotebookNode] = []
    for output in outputs:
        name = output.get("name")
        if name is not None and joined and joined[-1].get("name") == name:
            joined[-1].text += output.text
        else:
            joined.append(output)
    return joined


def _is_empty(output: NotebookNode) -> bool:
    """Return whether an output is a progress bar that has gone."""
    return output.output_type == "display_data" and output.data.get("text/html") == ""


def main() -> None:
    for path in [Path(it) for it in sys.argv[1:]] or sorted(NOTEBOOKS.glob("*.ipynb")):
        nbformat.write(execute(path), path)
        print(path)


if __name__ == "__main__":
    main()
