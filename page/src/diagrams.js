// Diagrams of pairs of points: drawn as densities, brushed to light the points behind a region.
import { make, number } from "./dom.js";

const [WIDTH, HEIGHT, CELLS] = [360, 220, 40];
const SOFTENED = 5;

// `pairs` has rows of [first, second, horizontal, vertical]; `onBrush` gets the rows behind.
export function pairDiagram(pairs, { logarithmic = false, horizontal, vertical, onBrush }) {
  const canvas = make("canvas", {
    width: 2 * WIDTH,
    height: 2 * HEIGHT,
    class: "diagram",
    tabindex: "0",
    role: "application",
    "aria-label": `${vertical} against ${horizontal}; drag, or move with arrows and press Enter, to light the points of a region`,
  });
  const count = pairs.length / 4;
  // Ranks are counted from 1, and spaced so that the first of them fill neighbouring cells.
  const scale = (value) => (logarithmic ? Math.log((value + SOFTENED) / (1 + SOFTENED)) : value);
  const back = (value) => (logarithmic ? Math.exp(value) * (1 + SOFTENED) - SOFTENED : value);
  let [right, top] = [1e-30, 1e-30];
  for (let at = 0; at < count; at++) {
    right = Math.max(right, scale(pairs[4 * at + 2]));
    top = Math.max(top, scale(pairs[4 * at + 3]));
  }
  const cell = (value, most) => Math.min(CELLS - 1, Math.floor((scale(value) / most) * CELLS));
  const counts = new Float32Array(CELLS * CELLS);
  for (let at = 0; at < count; at++) {
    counts[cell(pairs[4 * at + 3], top) * CELLS + cell(pairs[4 * at + 2], right)]++;
  }
  const light = (box) => {
    const rows = new Set();
    for (let at = 0; at < count; at++) {
      const x = scale(pairs[4 * at + 2]) / right;
      const y = scale(pairs[4 * at + 3]) / top;
      if (x < box.left || x > box.right || y < box.bottom || y > box.top) continue;
      rows.add(pairs[4 * at]).add(pairs[4 * at + 1]);
    }
    onBrush(Uint32Array.from(rows).sort());
  };
  const draw = (brush) => paint(canvas, counts, brush);
  listen(canvas, draw, light);
  listenToKeys(canvas, draw, light);
  draw(null);
  document.addEventListener("themechange", () => canvas.isConnected && draw(null));
  const least = logarithmic ? 1 : 0;
  return make(
    "figure",
    { class: "pairs" },
    make("figcaption", {}, `↑ ${vertical}, ${least} to ${number(back(top))}`),
    canvas,
    make("figcaption", { class: "right-aligned" }, `→ ${horizontal}, ${least} to ${number(back(right))}`),
  );
}

function paint(canvas, counts, brush) {
  const context = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  context.setTransform(2, 0, 0, 2, 0, 0);
  context.clearRect(0, 0, WIDTH, HEIGHT);
  context.fillStyle = style.getPropertyValue("--accent");
  const most = Math.log1p(Math.max(...counts));
  const [wide, high] = [WIDTH / CELLS, HEIGHT / CELLS];
  counts.forEach((count, at) => {
    if (!count) return;
    context.globalAlpha = 0.12 + 0.88 * (Math.log1p(count) / most);
    context.fillRect((at % CELLS) * wide, HEIGHT - (Math.floor(at / CELLS) + 1) * high, wide, high);
  });
  context.globalAlpha = 1;
  if (!brush) return;
  context.lineWidth = 1.5;
  context.strokeStyle = style.getPropertyValue("--strong");
  context.strokeRect(brush.left * WIDTH, (1 - brush.top) * HEIGHT, (brush.right - brush.left) * WIDTH, (brush.top - brush.bottom) * HEIGHT);
}

function listen(canvas, draw, onEnd) {
  let from = null;
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, 1 - (event.clientY - box.top) / box.height];
  };
  const brush = (event) => {
    const [x, y] = at(event);
    return { left: Math.min(from[0], x), right: Math.max(from[0], x), bottom: Math.min(from[1], y), top: Math.max(from[1], y) };
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    from = at(event);
  });
  canvas.addEventListener("pointermove", (event) => from && draw(brush(event)));
  canvas.addEventListener("pointerup", (event) => {
    if (!from) return;
    let box = brush(event);
    // A click takes the cell under the pointer.
    if (Math.max(box.right - box.left, box.top - box.bottom) < 0.5 / CELLS) box = cellBox(...from.map((part) => Math.floor(part * CELLS)));
    from = null;
    draw(box);
    onEnd(box);
  });
}

const cellBox = (column, line) => ({ left: column / CELLS, right: (column + 1) / CELLS, bottom: line / CELLS, top: (line + 1) / CELLS });

// Arrows move a cell, with Shift by five; Enter lights the points behind it.
function listenToKeys(canvas, draw, onEnd) {
  let [column, line] = [0, 0];
  const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  const kept = (place) => Math.max(0, Math.min(CELLS - 1, place));
  canvas.addEventListener("keydown", (event) => {
    const move = moves[event.key];
    if (!move && event.key !== "Enter") return;
    event.preventDefault();
    const far = event.shiftKey ? 5 : 1;
    if (move) [column, line] = [kept(column + far * move[0]), kept(line + far * move[1])];
    const box = cellBox(column, line);
    draw(box);
    if (!move) onEnd(box);
  });
}
