// Areas that scroll can be reached by keyboard: Quasar's tables and editors cannot by themselves.
const AREAS = ".q-table__middle, .hr-tables, .hr-scroll, pre, .q-tab-panel, .cm-scroller";
const PAUSE_MS = 300;
let waiting = false;

function update() {
  waiting = false;
  for (const area of document.querySelectorAll(AREAS)) {
    // The text of an editor has the focus already, but without saying so.
    const target = area.querySelector(".cm-content") ?? area;
    const scrolls =
      area.scrollWidth > area.clientWidth + 1 || area.scrollHeight > area.clientHeight + 1;
    if (scrolls && !target.hasAttribute("tabindex")) target.tabIndex = 0;
  }
}

function later() {
  if (!waiting) setTimeout(update, PAUSE_MS);
  waiting = true;
}

new MutationObserver(later).observe(document.body, { childList: true, subtree: true });
addEventListener("resize", later);
later();
