"""Measure: all benchmarks and micro-benchmarks."""

from nicegui import ui

from headrace.web.access.users import User
from headrace.web.benchmarks import BENCHMARKS, Benchmark
from headrace.web.layout import heading
from headrace.web.page import Page
from headrace.web.pages.measure import form

INTRODUCTION = (
    "A benchmark runs as a job on this host. It makes a directory of its own in the one that you"
    " choose, and removes it at the end. Measurements run one after the other, so that none"
    " disturbs another."
)


def build(user: User) -> None:
    """Draw the list of benchmarks."""
    ui.label(INTRODUCTION).classes("q-mb-md")
    groups: dict[str, list[Benchmark]] = {}
    for benchmark in BENCHMARKS:
        groups.setdefault(benchmark.group, []).append(benchmark)
    for group, benchmarks in groups.items():
        heading(group)
        with (
            ui.element("ul")
            .classes("w-full grid gap-3")
            .style(
                "grid-template-columns: repeat(auto-fill, minmax(min(100%, 300px), 1fr));"
                "list-style: none; padding: 0; margin: 0"
            )
        ):
            for benchmark in benchmarks:
                with ui.element("li"), ui.card().props("flat bordered").classes("h-full w-full"):
                    ui.link(benchmark.title, f"/measure/{benchmark.name}").classes("text-lg")
                    ui.label(benchmark.question)


PAGE = Page("/measure", "Measure", "speed", build, {"/measure/{name}": form.build})
