// Draws one map with WebGL inside a sandboxed frame: numbers come in and row numbers go out, by
// messages. The renderer compiles code at run time, which the page itself may not.
import createScatterplot from "regl-scatterplot";
import { drawMarks } from "./marks.js";

const canvas = document.getElementById("map");
const over = document.getElementById("marks");
const DENSE = 100_000;
let plot = null;
let theme = {};
let marks = {};
let distance = 1;
let mouseMode = "panZoom";

const send = (kind, content = {}) => parent.postMessage({ kind, ...content }, "*");

function size(points) {
  return Math.max(1.5, Math.min(7, 30 / points ** 0.22));
}

// Distance of the camera at which the whole map is seen, in windows that are higher than wide, too.
const fittingDistance = () => Math.max(1, innerHeight / Math.max(1, innerWidth));

function start(options) {
  distance = fittingDistance();
  plot = createScatterplot({
    canvas,
    width: "auto",
    height: "auto",
    backgroundColor: options.background,
    pointColor: options.palette,
    pointColorHover: options.ink,
    lassoColor: options.accent,
    cameraDistance: distance,
    mouseMode,
    pointOutlineWidth: 2,
    pointSizeSelected: 2,
    colorBy: "valueA",
    opacityInactiveScale: 0.15,
    deselectOnDblClick: false,
    actionKeyMap: { merge: "cmd", lasso: "shift" },
  });
  plot.subscribe("pointOver", (row) => send("over", { row }));
  plot.subscribe("pointOut", () => send("out"));
  plot.subscribe("select", ({ points }) => send("select", { rows: Uint32Array.from(points) }));
  plot.subscribe("deselect", () => send("deselect"));
  plot.subscribe("view", paintMarks);
  addEventListener("resize", resize);
}

// Keeps the zoom: the renderer itself scales maps with the height of the window only.
function resize() {
  const before = distance;
  distance = fittingDistance();
  if (distance !== before) plot.set({ cameraDistance: (plot.get("camera").distance[0] * distance) / before });
  paintMarks();
}

function reset() {
  plot?.zoomToLocation([0, 0], distance);
}

// Marks are on a canvas of their own, in the view that the points are drawn in.
function paintMarks() {
  if (!plot) return;
  Object.assign(over, { width: innerWidth, height: innerHeight });
  const view = plot.get("cameraView");
  const half = innerHeight / 2;
  const toScreen = (x, y) => [innerWidth / 2 + (view[0] * x + view[12]) * half, half - (view[5] * y + view[13]) * half];
  drawMarks(over.getContext("2d"), marks, { toScreen, scale: view[0] * half, ...theme });
}

const actions = {
  async draw({ x, y, colors, options }) {
    if (!plot) start(options);
    theme = options;
    plot.set({
      backgroundColor: options.background,
      pointColor: options.palette,
      pointColorHover: options.ink,
      // Selected points keep their classes, unless they are too dense to stand out by opacity.
      pointColorActive: x.length > DENSE ? options.strong : options.palette,
      pointSize: size(x.length),
      opacity: Math.max(0.35, Math.min(0.9, 40 / x.length ** 0.45)),
    });
    const drawn = { x, y, z: colors };
    await plot.draw(drawn, { zDataType: "categorical", preventFilterReset: true });
    paintMarks();
    send("drawn", { points: x.length });
  },
  mark(message) {
    marks = message.marks;
    paintMarks();
  },
  select({ rows }) {
    if (rows.length) plot?.select(rows, { preventEvent: true });
    else plot?.deselect({ preventEvent: true });
  },
  hover({ row }) {
    plot?.hover(row < 0 ? [] : row, { preventEvent: true });
  },
  mode({ mode }) {
    mouseMode = mode === "lasso" ? "lasso" : "panZoom";
    plot?.set({ mouseMode });
  },
  reset,
  async move({ x, y, zoom }) {
    if (!plot) return;
    const { target, distance } = plot.get("camera");
    const reach = distance[0];
    await plot.zoomToLocation([target[0] + x * reach, target[1] + y * reach], reach / zoom);
  },
};

// One draw after the other, and the rest after the draws before it: the renderer refuses to draw while
// it draws, as when a map is coloured anew before it was seen.
let drawing = Promise.resolve();
addEventListener("message", (event) => {
  if (event.source !== parent) return;
  const { kind } = event.data;
  const done = drawing.then(() => actions[kind]?.(event.data));
  if (kind === "draw") drawing = done.catch(() => {});
  done.catch((error) => send("failed", { reason: String(error?.message ?? error) }));
});
// A lasso that ends where it began is no click on the point there.
let travelled = 0;
canvas.addEventListener("mousedown", () => (travelled = 0), true);
addEventListener(
  "mousemove",
  (event) => {
    if (event.buttons) travelled += Math.hypot(event.movementX, event.movementY);
  },
  true,
);
canvas.addEventListener("click", (event) => travelled > 5 && event.stopImmediatePropagation(), true);
canvas.addEventListener("dblclick", reset);
addEventListener("keydown", (event) => send("key", { key: event.key, shift: event.shiftKey }));
send("ready");
