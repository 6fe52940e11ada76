// Curves by uPlot, in the colours of the page and as wide as their column.
import uPlot from "uplot";
import { make } from "./dom.js";

const [WIDTH, HEIGHT] = [320, 170];
// Steps between the ticks of an axis that counts.
const INTEGERS = [1, 2, 5, 10, 20, 50, 100];

// `fitted` is the range of x that an estimate was read from; it is shaded.
export function curves(title, horizontal, series, { logarithmic = false, points = false, low = null, fitted = null } = {}) {
  const style = getComputedStyle(document.documentElement);
  const [ink, line, accent] = ["--ink", "--line", "--accent"].map((name) => style.getPropertyValue(name).trim());
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: "11px system-ui", size: 40 };
  const host = make("figure", { class: "curves" }, make("figcaption", {}, title));
  const named = series.filter(({ name }) => name).length > 1;
  const options = {
    width: WIDTH,
    height: HEIGHT,
    legend: { show: named, live: false },
    cursor: { drag: { x: false, y: false } },
    scales: { x: { time: false, distr: logarithmic ? 3 : 1 }, y: { range: (_, least, most) => rangeOf(low ?? least, most) } },
    axes: [{ ...axis, size: 26, incrs: points ? INTEGERS : undefined, label: horizontal, labelSize: 14, labelGap: 0, labelFont: "11px system-ui" }, axis],
    series: [
      { label: horizontal },
      ...series.map(({ name, color, dash }) => ({ label: name ?? "", stroke: color, width: dash ? 1.5 : 2, dash, points: { show: points && !dash, size: 5 } })),
    ],
    hooks: { drawClear: fitted ? [(plot) => shade(plot, fitted, accent)] : [] },
  };
  const longest = series.reduce((most, { x }) => (x.length > most.length ? x : most), []);
  const data = [longest, ...series.map(({ x, y }) => align(longest, x, y))];
  const plot = new uPlot(options, data, host);
  new ResizeObserver(([{ contentRect }]) => {
    const width = Math.round(contentRect.width);
    if (width > 0 && width !== plot.width) plot.setSize({ width, height: HEIGHT });
  }).observe(host);
  return host;
}

function rangeOf(least, most) {
  return most > least ? [least, most + 0.03 * (most - least)] : [least - 0.5, least + 0.5];
}

function shade(plot, [from, to], color) {
  const { ctx, bbox } = plot;
  const [left, right] = [from, to].map((value) => plot.valToPos(value, "x", true));
  ctx.save();
  ctx.globalAlpha = 0.18;
  ctx.fillStyle = color;
  // Some ranges are a single point.
  ctx.fillRect(left - 2, bbox.top, Math.max(4, right - left + 4), bbox.height);
  ctx.restore();
}

function align(all, x, y) {
  const known = new Map(x.map((value, place) => [value, y[place]]));
  return all.map((value) => known.get(value) ?? null);
}
