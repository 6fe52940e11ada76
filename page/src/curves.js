// Curves by uPlot, in the colours of the page.
import uPlot from "uplot";
import { make } from "./dom.js";

const WIDTH = 320;

export function curves(title, horizontal, series, { logarithmic = false, points = false, low = null } = {}) {
  const style = getComputedStyle(document.documentElement);
  const [ink, line] = ["--ink", "--line"].map((name) => style.getPropertyValue(name).trim());
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: "11px system-ui", size: 34 };
  const host = make("figure", { class: "curves" }, make("figcaption", {}, title));
  const options = {
    width: WIDTH,
    height: 170,
    legend: { show: series.length > 1 },
    cursor: { drag: { x: false, y: false } },
    scales: { x: { time: false, distr: logarithmic ? 3 : 1 }, y: { range: (_, least, most) => [low ?? least, most] } },
    axes: [{ ...axis, size: 28 }, axis],
    series: [
      { label: horizontal },
      ...series.map(({ name, color }) => ({ label: name, stroke: color, width: 2, points: { show: points, size: 5 } })),
    ],
  };
  const longest = series.reduce((most, { x }) => (x.length > most.length ? x : most), []);
  const data = [longest, ...series.map(({ x, y }) => align(longest, x, y))];
  new uPlot(options, data, host);
  return host;
}

function align(all, x, y) {
  const known = new Map(x.map((value, place) => [value, y[place]]));
  return all.map((value) => known.get(value) ?? null);
}
