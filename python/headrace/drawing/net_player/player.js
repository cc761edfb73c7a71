// A net that can be looked at closely and played: the element <headrace-net>.
//
// It holds the picture that headrace.drawing.net_diagram draws and, in a hidden element, the frames
// of a run as JSON (headrace.drawing.net_player has its fields). It adds zoom, pan and, where there
// are frames, playback. Nothing is loaded, and all text is set as text.

(() => {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";
  const FRAMES_PER_SECOND = 30;
  const FRAMES_PER_SECOND_REDUCED = 4;
  const RUN_SECONDS = 20; // of the whole run at normal speed
  const SPEEDS = [0.25, 0.5, 1, 2, 4];
  const BUSIEST = 10;
  const STEP_SECONDS = 1; // of a firing at normal speed
  const MOST_PLACES = 60;
  const MARGIN = 12;
  const SHADES = [[0, 255, 255, 255], [0.5, 252, 236, 190], [0.8, 246, 190, 120], [1, 226, 120, 95]];

  const STYLE = `
headrace-net { display: block; }
headrace-net .net-bar { display: flex; flex-wrap: wrap; gap: 6px 8px; align-items: center; margin: 6px 0; }
headrace-net button, headrace-net select { font: inherit; color: inherit; background: transparent;
  border: 1px solid currentColor; border-radius: 4px; min-height: 32px; min-width: 32px; padding: 2px 8px; cursor: pointer; }
headrace-net select option { color: #1d2730; background: #fff; }
headrace-net button[aria-current] { font-weight: bold; border-color: transparent; cursor: default; }
headrace-net :is(button, select, input, [tabindex]):focus-visible { outline: 3px solid #d98e04; outline-offset: 2px; }
headrace-net .net-slider { flex: 1 1 160px; min-width: 120px; height: 32px; }
headrace-net .net-time { font-variant-numeric: tabular-nums; min-width: 13ch; }
headrace-net .net-sight { box-sizing: border-box; width: 100%; max-height: 70vh; min-height: 280px; border: 1px solid #8795a3; border-radius: 6px;
  overflow: hidden; touch-action: none; cursor: grab; background: #fff; }
headrace-net .net-sight.net-dragged { cursor: grabbing; }
headrace-net .net-sight svg { display: block; width: 100%; height: 100%; user-select: none; }
headrace-net [data-page] { cursor: zoom-in; }
headrace-net [data-page]:focus-visible > rect:last-of-type { stroke: #d98e04; stroke-width: 4; }
headrace-net [data-page]:focus-visible { outline: none; }
headrace-net .net-table { overflow-x: auto; }
headrace-net table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
headrace-net caption { text-align: left; font-weight: bold; padding: 8px 0 4px; }
headrace-net :is(th, td) { text-align: right; padding: 3px 8px; border-bottom: 1px solid #8795a366; }
headrace-net :is(th, td):first-child { text-align: left; overflow-wrap: anywhere; }
headrace-net .net-level { fill: #9cc9ea; stroke: none; }
headrace-net .net-queue { fill: #e0a458; stroke: none; }
headrace-net .net-count { font-size: 10px; font-weight: bold; fill: #1d2730; stroke: #fff; stroke-width: 2.5; paint-order: stroke; text-anchor: middle; }
headrace-net .net-waiting { font-size: 9px; }
.body--dark headrace-net .net-sight { background: #000; }
.body--dark headrace-net .net-sight svg { filter: invert(1) hue-rotate(180deg); }
@media (prefers-color-scheme: dark) {
  .net-page headrace-net .net-sight { background: #000; }
  .net-page headrace-net .net-sight svg { filter: invert(1) hue-rotate(180deg); }
}
`;

  const reduced = matchMedia("(prefers-reduced-motion: reduce)");

  function html(tag, properties = {}, children = []) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name in element && name !== "list") element[name] = value;
      else element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  }

  function svg(tag, attributes, text) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  }

  function shade(busy) {
    for (let at = 1; at < SHADES.length; at += 1) {
      const [low, ...pale] = SHADES[at - 1];
      const [high, ...strong] = SHADES[at];
      if (busy <= high || at === SHADES.length - 1) {
        const part = Math.min(1, (busy - low) / (high - low));
        return `rgb(${pale.map((it, channel) => Math.round(it + part * (strong[channel] - it))).join(",")})`;
      }
    }
  }

  // At most four characters: 999, 12k, 3.4M.
  function short(count) {
    for (const [unit, letter] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
      if (count >= unit) return `${(count / unit).toPrecision(count / unit < 10 ? 2 : 3).replace(/\.0$/, "")}${letter}`;
    }
    return String(count);
  }

  function timeText(seconds) {
    for (const [unit, name] of [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]]) {
      if (seconds >= unit || name === "µs") return `${Number((seconds / unit).toPrecision(4))} ${name}`;
    }
  }

  // Zoom and pan: the part of the picture that is seen.
  class Sight {
    constructor(box, picture, changed) {
      this.box = box;
      this.picture = picture;
      this.changed = changed;
      const { width, height } = picture.viewBox.baseVal;
      this.whole = { x: 0, y: 0, width, height };
      picture.removeAttribute("width");
      picture.removeAttribute("height");
      this.pointers = new Map();
      this.moved = 0;
      box.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
      box.addEventListener("pointerdown", (event) => this.down(event));
      box.addEventListener("pointermove", (event) => this.move(event));
      for (const name of ["pointerup", "pointercancel"]) box.addEventListener(name, (event) => this.up(event));
      this.show(this.whole);
    }

    show(part) {
      const width = Math.min(Math.max(part.width, this.whole.width / 200), this.whole.width * 4);
      const height = width * part.height / part.width;
      const clamp = (at, size, all) => Math.min(Math.max(at, -size * 0.9), all - size * 0.1);
      this.part = { x: clamp(part.x, width, this.whole.width), y: clamp(part.y, height, this.whole.height), width, height };
      const { x, y } = this.part;
      this.picture.setAttribute("viewBox", [x, y, width, height].map((it) => it.toFixed(2)).join(" "));
      this.changed();
    }

    // Fills the view with an element of the picture.
    fit(element) {
      const { x, y, width, height } = element.getBBox();
      this.show({ x: x - MARGIN, y: y - MARGIN, width: width + 2 * MARGIN, height: height + 2 * MARGIN });
    }

    // The point of the picture at a point of the screen.
    at(clientX, clientY) {
      return new DOMPoint(clientX, clientY).matrixTransform(this.picture.getScreenCTM().inverse());
    }

    zoom(factor, centre) {
      const { x, y, width, height } = this.part;
      const fixed = centre ?? { x: x + width / 2, y: y + height / 2 };
      this.show({
        x: fixed.x - (fixed.x - x) / factor,
        y: fixed.y - (fixed.y - y) / factor,
        width: width / factor,
        height: height / factor,
      });
    }

    pan(right, down) {
      const { x, y, width, height } = this.part;
      this.show({ x: x + right * width, y: y + down * height, width, height });
    }

    // The wheel scrolls the page until the picture has been clicked or focused, or Ctrl is held.
    wheel(event) {
      if (!event.ctrlKey && !this.box.contains(document.activeElement)) return;
      event.preventDefault();
      this.zoom(Math.exp(-Math.max(-100, Math.min(100, event.deltaY)) / 300), this.at(event.clientX, event.clientY));
    }

    down(event) {
      if (event.button !== 0) return;
      if (this.pointers.size === 0) this.moved = 0;
      this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    }

    move(event) {
      const before = this.pointers.get(event.pointerId);
      if (before === undefined) return;
      const now = { x: event.clientX, y: event.clientY };
      this.moved += Math.hypot(now.x - before.x, now.y - before.y);
      if (this.moved < 4) return;
      // Not before: a captured pointer clicks the box, and not the page below it.
      this.box.setPointerCapture(event.pointerId);
      this.box.classList.add("net-dragged");
      const others = [...this.pointers].filter(([id]) => id !== event.pointerId);
      if (others.length === 1) {
        const other = others[0][1];
        const distance = (it) => Math.max(1, Math.hypot(it.x - other.x, it.y - other.y));
        this.zoom(distance(now) / distance(before), this.at((now.x + other.x) / 2, (now.y + other.y) / 2));
      }
      const from = this.at(before.x, before.y);
      const to = this.at(now.x, now.y);
      const share = 1 / (others.length + 1);
      const { x, y, width, height } = this.part;
      this.pointers.set(event.pointerId, now);
      this.show({ x: x + (from.x - to.x) * share, y: y + (from.y - to.y) * share, width, height });
    }

    up(event) {
      this.pointers.delete(event.pointerId);
      if (this.pointers.size === 0) this.box.classList.remove("net-dragged");
    }

    get wasDragged() {
      return this.moved >= 4;
    }
  }

  // A place or station as it fills and empties.
  class Drawn {
    constructor(group, node, columns) {
      this.node = node;
      this.columns = columns;
      this.most = Math.max(1, ...columns.tokens);
      this.longest = Math.max(1, ...columns.queue);
      this.title = group.querySelector("title");
      this.said = this.title?.textContent ?? "";
      this.group = group;
      this.symbol = group.querySelector("rect");
      const box = this.symbol.getBBox();
      this.level = this.symbol.cloneNode();
      this.level.setAttribute("class", "net-level");
      for (const name of ["fill", "stroke"]) this.level.removeAttribute(name);
      this.count = svg("text", { class: "net-count", x: box.x + box.width / 2, y: box.y + box.height / 2 + 3.5 });
      this.symbol.after(this.level);
      group.append(this.count);
      if (node.kind === "station") this.addQueue(group, box);
    }

    addQueue(group, servers) {
      const outline = group.querySelector("path");
      const box = outline.getBBox();
      this.fromLeft = servers.x + servers.width / 2 < box.x + box.width / 2;
      this.queueBox = box;
      this.queue = svg("rect", { class: "net-queue", x: box.x, y: box.y + 1, width: 0, height: Math.max(0, box.height - 2) });
      outline.after(this.queue);
      this.waiting = svg("text", { class: "net-count net-waiting", x: box.x + box.width / 2, y: box.y - 3 });
      group.append(this.waiting);
    }

    // The share of its servers that worked since the frame before; undefined without a number of them.
    share(frame) {
      const { servers, copies } = this.node;
      if (this.node.kind !== "station" || servers === null) return undefined;
      return Math.min(1, this.columns.busy[frame] / (servers * copies));
    }

    show(frame) {
      const tokens = this.columns.tokens[frame];
      const queue = this.columns.queue[frame];
      const share = this.share(frame);
      const state = `${tokens} ${queue} ${share}`;
      if (state === this.state) return;
      this.state = state;
      const filled = share === undefined ? tokens / this.most : 0;
      this.level.style.clipPath = `inset(${(100 * (1 - filled)).toFixed(1)}% 0 0 0)`;
      if (share === undefined) {
        this.count.textContent = tokens > 0 ? short(tokens) : "";
      } else {
        this.symbol.setAttribute("fill", shade(share));
        this.count.textContent = share > 0 ? `${Math.round(100 * share)}%` : "";
      }
      const text = [`${tokens} tokens`];
      if (this.queue !== undefined) {
        const width = this.queueBox.width * queue / this.longest;
        this.queue.setAttribute("width", width.toFixed(2));
        this.queue.setAttribute("x", this.fromLeft ? this.queueBox.x : this.queueBox.x + this.queueBox.width - width);
        this.waiting.textContent = queue > 0 ? short(queue) : "";
        text.push(`${queue} waiting`);
        if (share !== undefined) text.push(`${Math.round(100 * share)} % busy`);
      }
      const now = text.join(", ");
      if (this.title) this.title.textContent = `${this.said}; now: ${now}`;
      this.group.dataset.tokens = tokens;
      this.group.dataset.queue = queue;
      if (share !== undefined) this.group.dataset.busy = share.toFixed(3);
    }
  }

  // The frames as arrays, with zeros where a node has none of them.
  function columnsOf(frames, id) {
    const zeros = new Array(frames.time.length).fill(0);
    return Object.fromEntries(["tokens", "queue", "busy"].map((name) => [name, frames[name][id] ?? zeros]));
  }

  class HeadraceNet extends HTMLElement {
    connectedCallback() {
      if (this.sight !== undefined) return;
      const picture = this.querySelector("svg");
      if (picture === null) return;
      if (document.getElementById("headrace-net-style") === null) {
        document.head.append(html("style", { id: "headrace-net-style", textContent: STYLE }));
      }
      const data = this.querySelector("data");
      this.frames = data === null ? null : JSON.parse(data.textContent);
      this.drawPages(picture);
      this.current = -1;
      this.playing = false;
      this.speed = 1;
      if (this.frames) this.drawPlayer(picture);
      this.addEventListener("keydown", (event) => this.key(event));
    }

    disconnectedCallback() {
      if (this.playing) this.pause();
    }

    // Zoom, pan and the way back.

    drawPages(picture) {
      this.pages = new Map();
      for (const group of picture.querySelectorAll("[data-page]")) {
        const path = group.dataset.page;
        this.pages.set(path, group);
        group.setAttribute("tabindex", "0");
        group.setAttribute("role", "button");
        group.setAttribute("aria-label", `Zoom into ${path}`);
        group.addEventListener("click", () => {
          if (!this.sight.wasDragged) this.showPage(path);
        });
      }
      // Its pages can be reached: it is no single image.
      picture.setAttribute("role", "group");
      const name = picture.querySelector("title")?.textContent ?? "net";
      picture.setAttribute("aria-label", name);
      const button = (label, sign, action) =>
        html("button", { type: "button", textContent: sign, "aria-label": label, title: label, onclick: action });
      this.trail = html("nav", { className: "net-bar", "aria-label": "Shown page" });
      const help = "Plus and minus zoom, Shift and an arrow key moves, 0 shows all"
        + (this.frames ? "; space plays, arrow keys step" : "");
      const box = html("div", { className: "net-sight", tabIndex: 0, role: "group", "aria-label": `Picture of the ${name}. ${help}.` });
      const bar = html("div", { className: "net-bar", role: "group", "aria-label": "Zoom" }, [
        button("Zoom in", "+", () => this.sight.zoom(1.4)),
        button("Zoom out", "\u2212", () => this.sight.zoom(1 / 1.4)),
        button("Show all", "\u2922", () => this.showPage(null)),
        this.trail,
      ]);
      const { width, height } = picture.viewBox.baseVal;
      box.style.aspectRatio = `${width} / ${height}`;
      picture.before(bar, box);
      box.append(picture);
      this.sight = new Sight(box, picture, () => {
        this.dataset.view = picture.getAttribute("viewBox");
      });
      this.showPage(null);
    }

    showPage(path) {
      const group = path === null ? undefined : this.pages.get(path);
      if (group === undefined) this.sight.show(this.sight.whole);
      else this.sight.fit(group);
      const top = this.pages.keys().next().value ?? "net";
      const steps = [[null, "Whole net"]];
      if (group !== undefined && path !== top) {
        const names = path.slice(top.length + 1).split("/");
        // A page's name may hold a stroke: only paths that are pages are steps.
        names.forEach((_, at) => {
          const step = `${top}/${names.slice(0, at + 1).join("/")}`;
          if (this.pages.has(step)) steps.push([step, step.slice((steps.at(-1)[0] ?? top).length + 1)]);
        });
      }
      this.page = steps.at(-1)[0];
      this.trail.replaceChildren(...steps.map(([step, label], at) => {
        const it = html("button", { type: "button", textContent: label, onclick: () => this.showPage(step) });
        if (at === steps.length - 1) it.setAttribute("aria-current", "page");
        return it;
      }));
    }

    up() {
      const parents = [...this.pages.keys()].filter((it) => this.page?.startsWith(`${it}/`));
      this.showPage(parents.length > 1 ? parents.at(-1) : null);
    }

    // Playback.

    drawPlayer(picture) {
      const frames = this.frames;
      this.drawn = [];
      this.steps = frames.steps === undefined ? null : new globalThis.HeadraceNetSteps(picture, frames);
      for (const node of frames.nodes) {
        // Stores have numbers of their own.
        const group = picture.querySelector(`[data-kind="${node.kind}"][data-id="${node.id}"]`);
        if (group !== null) this.drawn.push(new Drawn(group, node, columnsOf(frames, node.id)));
      }
      const last = frames.time.length - 1;
      this.button = html("button", { type: "button", textContent: "Play", onclick: () => this.toggle() });
      const step = (label, sign, by) =>
        html("button", { type: "button", textContent: sign, "aria-label": label, title: label, onclick: () => this.step(by) });
      this.slider = html("input", {
        type: "range", className: "net-slider", min: 0, max: last, step: 1, value: 0,
        "aria-label": this.steps === null ? "Simulated time" : "Firing",
        oninput: () => this.go(Number(this.slider.value)),
      });
      this.time = html("output", { className: "net-time" });
      const speeds = SPEEDS.map((it) => html("option", { value: it, textContent: `${it}\u00d7`, selected: it === 1 }));
      const speed = html("select", { "aria-label": "Speed", onchange: () => { this.speed = Number(speed.value); } }, speeds);
      const bar = html("div", { className: "net-bar", role: "group", "aria-label": "Playback" }, [
        this.button, step("One frame back", "\u2039", -1), step("One frame on", "\u203a", 1), this.slider, this.time, speed,
      ]);
      this.table = html("tbody");
      this.caption = html("caption");
      const names = this.steps === null ? ["Station", "Busy", "Waiting", "Tokens"] : ["Place or station", "Tokens", "Values"];
      const heads = names.map((it) => html("th", { scope: "col", textContent: it, className: it === "Values" ? "net-words" : "" }));
      this.firing = html("div", { className: "net-firing", role: "status" });
      const table = html("div", { className: "net-table" }, [
        html("table", { "aria-live": "off" }, [this.caption, html("thead", {}, [html("tr", {}, heads)]), this.table]),
      ]);
      if (this.steps === null) this.sight.box.after(bar, table);
      else this.sight.box.after(bar, this.firing, table);
      this.go(0);
    }

    get frame() {
      return this.current;
    }

    // Pauses at a frame.
    go(frame) {
      if (this.playing) this.pause();
      this.moving = undefined;
      this.steps?.end();
      this.show(Math.min(Math.max(frame, 0), this.frames.time.length - 1));
      this.markFiring();
      this.tell();
    }

    step(by) {
      if (this.steps !== null && by === 1 && !this.playing) this.fire();
      else this.go(this.current + by);
    }

    // Shows the next firing, and then pauses.
    fire() {
      // A firing that is shown already ends at once.
      const frame = this.moving === undefined ? this.current : this.moving + 1;
      this.go(frame);
      if (frame >= this.frames.time.length - 1 || reduced.matches) {
        this.go(frame + 1);
        return;
      }
      this.move(frame, () => this.go(frame + 1));
    }

    // Moves the tokens of the firing after a frame; `done` is called at its end.
    move(frame, done) {
      this.moving = frame;
      this.steps.begin(frame);
      this.firing.textContent = this.steps.text(frame + 1);
      const start = performance.now();
      const next = (now) => {
        if (this.moving !== frame) return;
        const part = Math.max(0, now - start) / 1000 * this.speed / STEP_SECONDS;
        if (part < 1) {
          this.steps.move(part);
          requestAnimationFrame(next);
          return;
        }
        this.moving = undefined;
        this.steps.end();
        done();
      };
      requestAnimationFrame(next);
    }

    // The firing that led to the marking shown is lit, and told.
    markFiring() {
      if (this.steps === null) return;
      this.steps.mark(this.current);
      this.firing.textContent = this.steps.text(this.current);
    }

    show(frame) {
      if (frame === this.current) return;
      this.current = frame;
      for (const it of this.drawn) it.show(frame);
      this.slider.value = frame;
      this.markFiring();
      const time = timeText(this.frames.time[frame]);
      const end = timeText(this.frames.time.at(-1));
      this.time.textContent = `${time} of ${end}`;
      this.slider.setAttribute("aria-valuetext", time);
      this.dataset.frame = frame;
    }

    // The same in words: the busiest stations.
    tell() {
      const frame = this.current;
      if (this.steps !== null) {
        this.tellMarking(frame);
        return;
      }
      const stations = this.drawn.filter((it) => it.node.kind === "station");
      const order = (it) => [it.share(frame) ?? 0, it.columns.queue[frame], it.columns.tokens[frame]];
      stations.sort((one, other) => {
        const [a, b] = [order(other), order(one)];
        const at = a.findIndex((it, index) => it !== b[index]);
        return at < 0 ? 0 : a[at] - b[at];
      });
      this.caption.textContent = `Busiest stations at ${timeText(this.frames.time[frame])}`;
      this.table.replaceChildren(...stations.slice(0, BUSIEST).map((it) => {
        const share = it.share(frame);
        const cells = [
          share === undefined ? "\u2013" : `${(100 * share).toFixed(0)} %`,
          it.columns.queue[frame].toLocaleString("en"),
          it.columns.tokens[frame].toLocaleString("en"),
        ];
        return html("tr", {}, [
          html("th", { scope: "row", textContent: it.node.path }),
          ...cells.map((text) => html("td", { textContent: text })),
        ]);
      }));
    }

    tellMarking(frame) {
      this.caption.textContent = `Marking at ${timeText(this.frames.time[frame])}`;
      const filled = this.drawn.filter((it) => it.columns.tokens[frame] > 0 || this.steps.words(it.node.id, frame) !== "");
      this.table.replaceChildren(...filled.slice(0, MOST_PLACES).map((it) => html("tr", {}, [
        html("th", { scope: "row", textContent: it.node.path }),
        html("td", { textContent: it.columns.tokens[frame].toLocaleString("en") }),
        html("td", { className: "net-words", textContent: this.steps.words(it.node.id, frame) }),
      ])));
    }

    toggle() {
      if (this.playing) this.pause();
      else this.play();
    }

    play() {
      const last = this.frames.time.length - 1;
      if (this.current >= last) this.show(0);
      this.playing = true;
      this.button.textContent = "Pause";
      if (this.steps !== null) {
        this.playSteps();
        return;
      }
      let position = this.current;
      let before = performance.now();
      const next = (now) => {
        if (!this.playing) return;
        const elapsed = now - before;
        if (elapsed >= 1000 / (reduced.matches ? FRAMES_PER_SECOND_REDUCED : FRAMES_PER_SECOND)) {
          before = now;
          position += elapsed / 1000 * this.speed * last / RUN_SECONDS;
          this.show(Math.min(last, Math.floor(position)));
          if (position >= last) {
            this.pause();
            return;
          }
        }
        requestAnimationFrame(next);
      };
      requestAnimationFrame(next);
    }

    playSteps() {
      const frame = this.current;
      if (!this.playing) return;
      if (frame >= this.frames.time.length - 1) {
        this.pause();
        return;
      }
      const on = () => {
        this.show(frame + 1);
        this.tell();
        this.playSteps();
      };
      if (reduced.matches) setTimeout(() => this.playing && this.current === frame && on(), 1000 * STEP_SECONDS / this.speed);
      else this.move(frame, on);
    }

    pause() {
      this.playing = false;
      this.moving = undefined;
      this.steps?.end();
      this.markFiring();
      this.button.textContent = "Play";
      this.tell();
    }

    key(event) {
      const target = event.target;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      // Buttons, the slider and lists have keys of their own.
      if (!this.sight.box.contains(target)) return;
      const page = target.closest("[data-page]")?.dataset.page;
      const actions = {
        "+": () => this.sight.zoom(1.4),
        "=": () => this.sight.zoom(1.4),
        "-": () => this.sight.zoom(1 / 1.4),
        "0": () => this.showPage(null),
        Escape: () => this.up(),
        ...(page === undefined ? {} : { Enter: () => this.showPage(page) }),
        ...(event.shiftKey ? {
          ArrowLeft: () => this.sight.pan(-0.1, 0),
          ArrowRight: () => this.sight.pan(0.1, 0),
          ArrowUp: () => this.sight.pan(0, -0.1),
          ArrowDown: () => this.sight.pan(0, 0.1),
        } : this.frames ? {
          " ": () => this.toggle(),
          ArrowLeft: () => this.step(-1),
          ArrowRight: () => this.step(1),
          Home: () => this.go(0),
          End: () => this.go(this.frames.time.length - 1),
        } : {}),
      };
      const action = actions[event.key];
      if (action === undefined) return;
      event.preventDefault();
      action();
    }
  }

  if (customElements.get("headrace-net") === undefined) customElements.define("headrace-net", HeadraceNet);
})();
