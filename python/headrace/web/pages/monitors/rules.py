"""The rules of the states."""

from nicegui import run, ui

from headrace.monitors.rules import OWN, Rule, shipped_text
from headrace.web.access.permissions import Action, Kind, is_allowed
from headrace.web.access.users import User
from headrace.web.layout import heading
from headrace.web.site import site
from headrace.web.tables import show_table
from headrace.web.typed import forget, keep

COLUMNS = ("Rule", "Monitor", "State", "Holds if", "Samples", "Reason shown", "Source")

EXAMPLE = """[disk-problem]
samples = 10

[disk-problem.when]
service = { above = 0.1 }"""


def rules(user: User) -> None:
    """Draw the rules, and the form for an operator's own."""
    ui.link("All hosts", "/monitors")
    ui.label(
        "Each monitor, and each of its devices, has the state of the first rule that holds. A rule"
        " begins to hold when its conditions hold in the number of samples that the table names,"
        " one after the other. It ceases to hold in the same way."
    )
    heading("Rules in use")
    table = ui.element("div").classes("w-full")

    def show() -> None:
        table.clear()
        with table:
            found = site().monitors.rules()
            show_table("Rules", COLUMNS, [_row(entry) for entry in found], left=range(len(COLUMNS)))

    show()
    heading("Own rules")
    ui.label(
        f"Changes and additions in TOML, saved as {OWN} in the server's data directory. For"
        " example:"
    )
    _toml(EXAMPLE)
    area = keep(ui.textarea("Own rules", value=site().monitors.own_rules()), "rules")
    area.classes("w-full q-my-sm")
    area.props('outlined autogrow input-class="font-mono" spellcheck=false')
    message = ui.label().props('role="alert"').classes("text-negative whitespace-pre-line")
    done = ui.label().props('role="status"')

    async def save() -> None:
        message.set_text("")
        done.set_text("")
        try:
            await run.io_bound(site().monitors.set_own_rules, str(area.value or ""))
        except (ValueError, OSError) as error:
            message.set_text(str(error))
            return
        forget("rules")
        done.set_text("Saved and in use.")
        show()

    if is_allowed(user, Action.CHANGE, Kind.RULES):
        ui.button("Check and save", icon="save", on_click=save)
    else:
        area.props("readonly")
        ui.label("Only operators change rules.")
    with ui.element("details").classes("w-full q-mt-md"):
        with ui.element("summary"):
            ui.label("The shipped file with its explanations").classes("inline")
        _toml(shipped_text())


def _toml(text: str) -> None:
    ui.label(text).classes("font-mono text-sm").style("white-space: pre-wrap")


def _row(rule: Rule) -> tuple[str, ...]:
    text = "\n".join(rule.conditions())
    return rule.id, rule.monitor, rule.state, text, str(rule.samples), rule.text, rule.source
