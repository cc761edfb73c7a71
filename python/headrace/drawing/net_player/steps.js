// Firings of a net in its drawing: tokens move along the arcs, and the transition is lit.
//
// player.js calls it for frames with steps. Nothing is loaded, and all text is set as text.

(() => {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";
  const MOST_DOTS = 24;
  const STYLE = `
headrace-net .net-token { fill: #1f5f8b; stroke: #fff; stroke-width: 1; }
headrace-net .net-token-text { font-size: 10px; font-weight: bold; fill: #1f5f8b; stroke: #fff; stroke-width: 3; paint-order: stroke; }
headrace-net .net-lit > :is(rect, path) { fill: #d98e04; }
headrace-net .net-lit { filter: drop-shadow(0 0 4px #d98e04); }
headrace-net .net-firing { min-height: 1.5em; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
headrace-net :is(td, th).net-words { text-align: left; overflow-wrap: anywhere; }
`;

  function svg(tag, attributes, text) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  }

  // A token on its way along a part of an arc.
  class Dot {
    constructor(layer, path, from, to, text) {
      this.path = path;
      const length = path.getTotalLength();
      this.from = from * length;
      this.to = to * length;
      this.circle = svg("circle", { class: "net-token", r: 5.5 });
      this.text = svg("text", { class: "net-token-text" }, text);
      layer.append(this.circle, this.text);
      this.move(0);
    }

    move(part) {
      const { x, y } = this.path.getPointAtLength(this.from + part * (this.to - this.from));
      this.circle.setAttribute("cx", x);
      this.circle.setAttribute("cy", y);
      this.text.setAttribute("x", x + 7);
      this.text.setAttribute("y", y - 6);
    }
  }

  class Steps {
    constructor(picture, frames) {
      if (document.getElementById("headrace-net-steps-style") === null) {
        const style = document.createElement("style");
        style.id = "headrace-net-steps-style";
        style.textContent = STYLE;
        document.head.append(style);
      }
      this.frames = frames;
      this.layer = svg("g", {});
      picture.append(this.layer);
      this.transitions = new Map();
      for (const it of picture.querySelectorAll("[data-path]")) this.transitions.set(it.dataset.path, it);
      // Arcs by their ends; a mark on an arc stands for both arcs of its transition.
      this.arcs = new Map();
      for (const it of picture.querySelectorAll('[data-line="arc"]')) {
        const { source, target, tick } = it.dataset;
        const path = it.querySelector("path");
        if (tick === undefined) this.arcs.set(`${source} ${target}`, [path, 0, 1]);
        else {
          this.arcs.set(`${source} ${tick}`, [path, 0, 0.5]);
          this.arcs.set(`${tick} ${target}`, [path, 0.5, 1]);
        }
      }
    }

    // The tokens of one side of a firing.
    dots(step, moves, isIn) {
      const dots = [];
      for (const { node, text, count } of moves) {
        const ends = isIn ? `n${node} t${step.transition}` : `t${step.transition} n${node}`;
        const arc = this.arcs.get(ends);
        if (arc === undefined || dots.length >= MOST_DOTS) continue;
        const number = count > 1 ? `${count} \u00d7 ` : "";
        dots.push(new Dot(this.layer, ...arc, text === "()" ? (count > 1 ? String(count) : "") : number + text));
      }
      return dots;
    }

    light(step, isOn) {
      this.transitions.get(`t${step.transition}`)?.classList.toggle("net-lit", isOn);
    }

    // Shows a firing: `part` runs from 0 to 1.
    begin(frame) {
      this.end();
      this.mark(0);
      this.step = this.frames.steps[frame];
      this.side = undefined;
    }

    move(part) {
      const isIn = part < 0.5;
      if (this.side !== isIn) {
        this.layer.replaceChildren();
        this.side = isIn;
        this.moving = this.dots(this.step, isIn ? this.step.taken : this.step.put, isIn);
        this.light(this.step, !isIn);
      }
      for (const dot of this.moving) dot.move(Math.min(1, isIn ? 2 * part : 2 * part - 1));
    }

    end() {
      if (this.step === undefined) return;
      this.light(this.step, false);
      this.layer.replaceChildren();
      this.step = undefined;
    }

    // The firing that led to a frame stays lit.
    mark(frame) {
      for (const it of this.transitions.values()) it.classList.remove("net-lit");
      if (frame > 0) this.light(this.frames.steps[frame - 1], true);
    }

    text(frame) {
      const { steps, end } = this.frames;
      const fired = frame > 0 ? `${frame}. ${steps[frame - 1].text}` : "The marking before the first firing.";
      return frame === steps.length && end ? `${fired}. ${end}` : fired;
    }

    // The tokens of a node in words.
    words(id, frame) {
      let words = "";
      for (const [from, text] of this.frames.marking[id] ?? []) {
        if (from > frame) break;
        words = text;
      }
      return words;
    }
  }

  globalThis.HeadraceNetSteps = Steps;
})();
