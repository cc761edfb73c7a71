"""`headrace design flow`."""

from headrace.cli.options import Sets, SvgFile, WorksheetFile
from headrace.files import atomic_file, check_apart, check_writable


def flow(
    file: WorksheetFile,
    output: SvgFile,
    sets: Sets = None,
) -> None:
    """Draw how data flows between zones, clients and the outside.

    Without flows, the picture shows the accesses of the applications.
    """
    from headrace.design.worksheet_file import load_worksheet
    from headrace.report.data_flow import data_flow_svg

    check_apart({"--output": output}, {"the worksheet": file})
    if output.suffix.lower() not in ("", ".svg"):
        raise ValueError(
            f"--output {output}: the data-flow diagram is SVG, not {output.suffix}: expected"
            " a name that ends in .svg"
        )
    check_writable(output)
    picture = data_flow_svg(load_worksheet(file, sets or []).worksheet)
    with atomic_file(output) as partial:
        partial.write_text(picture, encoding="utf-8")
