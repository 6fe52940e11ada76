// Diagrams of pairs of points: drawn as densities, brushed to light the points behind a region.
import { make } from "./dom.js";

const [WIDTH, HEIGHT, CELLS] = [320, 200, 40];

// `pairs` has rows of [first, second, horizontal, vertical]; `onBrush` gets the rows behind.
export function pairDiagram(pairs, { logarithmic = false, horizontal, vertical, onBrush }) {
  const canvas = make("canvas", { width: WIDTH, height: HEIGHT, class: "diagram", tabindex: "0", "aria-label": `${vertical} against ${horizontal}; drag to light the points of a region` });
  const scale = (value) => (logarithmic ? Math.log(value) : value);
  const count = pairs.length / 4;
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
  const draw = (brush) => paint(canvas, counts, brush);
  listen(canvas, draw, (box) => {
    const rows = new Set();
    for (let at = 0; at < count; at++) {
      const x = scale(pairs[4 * at + 2]) / right;
      const y = scale(pairs[4 * at + 3]) / top;
      if (x < box.left || x > box.right || y < box.bottom || y > box.top) continue;
      rows.add(pairs[4 * at]).add(pairs[4 * at + 1]);
    }
    onBrush(Uint32Array.from(rows).sort());
  });
  draw(null);
  return make(
    "figure",
    { class: "pairs" },
    canvas,
    make("figcaption", { class: "quiet" }, `↑ ${vertical}   → ${horizontal}. Drag to light the points behind a region.`),
  );
}

function paint(canvas, counts, brush) {
  const context = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
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
  context.strokeStyle = style.getPropertyValue("--ink");
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
    const box = brush(event);
    from = null;
    // A click takes the cell under the pointer.
    if (box.right - box.left < 1 / CELLS) box.right = box.left + 1 / CELLS;
    if (box.top - box.bottom < 1 / CELLS) box.top = box.bottom + 1 / CELLS;
    draw(box);
    onEnd(box);
  });
}
