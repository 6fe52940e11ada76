"use strict";

// Viridis, from which the colours between are interpolated.
const STOPS = ["440154", "482878", "3e4989", "31688e", "26828e", "1f9e89", "35b779", "6ece58",
  "b5de2b", "fde725"].map(hex => [0, 2, 4].map(at => parseInt(hex.slice(at, at + 2), 16)));
const PADDING = 0.05;
const REACH = 14;  // pixels from the pointer within which a point is found

const data = JSON.parse(document.getElementById("data").textContent);
const darkScheme = window.matchMedia("(prefers-color-scheme: dark)");

function color(value) {
  // The end of the scale that is nearest the background would vanish in it.
  const shade = darkScheme.matches ? 0.14 + 0.86 * value : 0.95 * value;
  const place = shade * (STOPS.length - 1);
  const below = Math.min(Math.floor(place), STOPS.length - 2);
  const mixed = STOPS[below].map((from, i) => from + (place - below) * (STOPS[below + 1][i] - from));
  return `rgb(${mixed.map(Math.round).join(" ")})`;
}

// Where the points of a plane panel are, in the unit square, and in what order to draw them.
function flat(coordinates) {
  const places = [];
  for (let i = 0; i < coordinates.length; i += 2) {
    places.push([coordinates[i], 1 - coordinates[i + 1]]);
  }
  const order = places.map((_, i) => i);
  return () => ({ places, order });
}

// The same for points in space, seen from a direction that can be changed.
function inSpace(coordinates, view) {
  const points = [];
  for (let i = 0; i < coordinates.length; i += 3) {
    points.push([coordinates[i] - 0.5, coordinates[i + 1] - 0.5, coordinates[i + 2] - 0.5]);
  }
  const radius = Math.max(...points.map(point => Math.hypot(...point)));
  const scale = 0.52 / radius;
  return () => {
    const [up, around] = [view.elevation, view.azimuth].map(angle => angle * Math.PI / 180);
    const [sinUp, cosUp, sinAround, cosAround] =
      [Math.sin(up), Math.cos(up), Math.sin(around), Math.cos(around)];
    const places = [], nearness = [];
    for (const [x, y, z] of points) {
      const towards = cosAround * x + sinAround * y;
      const right = cosAround * y - sinAround * x;
      places.push([0.5 + scale * right, 0.5 - scale * (cosUp * z - sinUp * towards)]);
      nearness.push(cosUp * towards + sinUp * z);
    }
    const order = places.map((_, i) => i).sort((i, j) => nearness[i] - nearness[j]);
    return { places, order };
  };
}

function place(point, size) {
  return point.map(at => size * (PADDING + (1 - 2 * PADDING) * at));
}

function draw(plot, colors, chosen) {
  const { canvas } = plot;
  const size = canvas.clientWidth, ratio = window.devicePixelRatio || 1;
  canvas.width = canvas.height = Math.round(size * ratio);
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  const { places, order } = plot.layout();
  const dot = Math.max(1.4, size / 110);
  for (const i of order) {
    const [x, y] = place(places[i], size);
    pen.fillStyle = colors[i];
    pen.beginPath();
    pen.arc(x, y, dot, 0, 2 * Math.PI);
    pen.fill();
  }
  if (chosen !== null) {
    const [x, y] = place(places[chosen], size);
    pen.fillStyle = "#ff3b6b";
    pen.strokeStyle = getComputedStyle(canvas).color;
    pen.lineWidth = 2;
    pen.beginPath();
    pen.arc(x, y, 3 * dot, 0, 2 * Math.PI);
    pen.fill();
    pen.stroke();
  }
}

function nearest(plot, event) {
  const size = plot.canvas.clientWidth;
  let found = null, least = REACH;
  plot.layout().places.forEach((point, i) => {
    const [x, y] = place(point, size);
    const distance = Math.hypot(x - event.offsetX, y - event.offsetY);
    if (distance < least) [found, least] = [i, distance];
  });
  return found;
}

function link(section) {
  const surface = data[section.dataset.surface];
  const view = { elevation: surface.view[0], azimuth: surface.view[1] };
  const readout = section.querySelector("output");
  const plots = [...section.querySelectorAll("canvas")].map(canvas => {
    const method = canvas.parentElement.dataset.method;
    const layout = method ? flat(surface.panels[method]) : inSpace(surface.space, view);
    return { canvas, layout, turns: !method };
  });
  let chosen = null, waiting = false;

  function redraw() {
    // Pointer events come faster than the screen can show them.
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      const colors = surface.colors.map(color);
      plots.forEach(plot => draw(plot, colors, chosen));
      readout.textContent = chosen === null ? "" : `Row ${chosen}.`;
    });
  }

  for (const plot of plots) {
    plot.canvas.addEventListener("pointermove", event => {
      if (plot.turns && event.buttons) {
        view.azimuth -= event.movementX / 2;
        view.elevation = Math.max(-90, Math.min(90, view.elevation + event.movementY / 2));
      } else {
        chosen = nearest(plot, event);
      }
      redraw();
    });
    plot.canvas.addEventListener("pointerdown", event => {
      if (plot.turns) plot.canvas.setPointerCapture(event.pointerId);
    });
    plot.canvas.addEventListener("pointerleave", () => {
      chosen = null;
      redraw();
    });
  }
  new ResizeObserver(redraw).observe(section);
  darkScheme.addEventListener("change", redraw);
}

document.querySelectorAll("section[data-surface]").forEach(link);
