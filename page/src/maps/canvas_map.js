// A map drawn on a canvas without WebGL: at most MOST_POINTS points, and a density of more.
import { rgb } from "../colors.js";
import { make } from "../dom.js";
import { Density } from "./density.js";
import { drawMarks } from "./marks.js";
import { lassoed } from "./places.js";

export const MOST_POINTS = 100_000;

export class CanvasMap {
  constructor(host, handlers) {
    this.handlers = handlers;
    this.view = { x: 0, y: 0, zoom: 1 };
    this.canvas = make("canvas", { tabindex: "0", "aria-label": "Map" });
    this.over = make("canvas", { class: "over" });
    host.append(this.canvas, this.over);
    this.resizing = new ResizeObserver(() => this.redraw());
    this.resizing.observe(host);
    this.host = host;
    this.chosen = null;
    this.marks = {};
    this.pointer = "pan";
    this.listen();
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.drag(event));
    canvas.addEventListener("pointerup", (event) => this.release(event));
    canvas.addEventListener("pointerleave", () => this.handlers.onHover(-1));
    canvas.addEventListener("dblclick", () => this.reset());
    canvas.addEventListener("keydown", (event) => this.handlers.onKey(event.key, event.shiftKey));
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const [x, y] = this.toData(event.offsetX, event.offsetY);
        const factor = Math.exp(-event.deltaY / 400);
        const { view } = this;
        const zoom = Math.min(Math.max(view.zoom * factor, 0.2), 500);
        const change = view.zoom / zoom;
        this.view = { x: x + (view.x - x) * change, y: y + (view.y - y) * change, zoom };
        this.redraw();
      },
      { passive: false },
    );
  }

  get scale() {
    return (Math.min(this.host.clientWidth, this.host.clientHeight) / 2) * this.view.zoom;
  }

  toData(left, top) {
    return [
      (left - this.host.clientWidth / 2) / this.scale + this.view.x,
      -(top - this.host.clientHeight / 2) / this.scale + this.view.y,
    ];
  }

  press(event) {
    this.canvas.setPointerCapture(event.pointerId);
    const lasso = this.pointer === "lasso" || event.shiftKey;
    this.action = { lasso, from: [event.offsetX, event.offsetY], view: this.view, moved: false };
    this.path = [this.toData(event.offsetX, event.offsetY)];
  }

  drag(event) {
    if (!this.action) {
      this.handlers.onHover(this.nearest(event.offsetX, event.offsetY));
      return;
    }
    const [dx, dy] = [event.offsetX - this.action.from[0], event.offsetY - this.action.from[1]];
    if (Math.hypot(dx, dy) > 3) this.action.moved = true;
    if (this.action.lasso) {
      this.path.push(this.toData(event.offsetX, event.offsetY));
      this.drawOver();
    } else if (this.action.moved) {
      const { view } = this.action;
      this.view = { ...view, x: view.x - dx / this.scale, y: view.y + dy / this.scale };
      this.redraw();
    }
  }

  release(event) {
    const action = this.action;
    this.action = null;
    if (action?.lasso && this.path.length > 2) {
      const chosen = lassoed(this.path, this.places);
      this.path = [];
      this.handlers.onSelect(chosen);
    } else if (action && !action.moved) {
      const place = this.nearest(event.offsetX, event.offsetY);
      this.handlers.onSelect(place < 0 ? new Uint32Array() : Uint32Array.of(place));
    }
    this.path = [];
    this.drawOver();
  }

  nearest(left, top) {
    if (!this.places) return -1;
    const [x, y] = this.toData(left, top);
    let [best, reach] = [-1, (8 / this.scale) ** 2];
    for (let at = 0; at < this.places.x.length; at++) {
      const square = (this.places.x[at] - x) ** 2 + (this.places.y[at] - y) ** 2;
      if (square < reach) [best, reach] = [at, square];
    }
    return best;
  }

  // `options.density` asks the server for the points in each pixel of a box.
  draw(places, colors, options) {
    Object.assign(this, { places, colors, options });
    if (options.density) {
      this.density ??= new Density(options.density, () => this.redraw(true));
      this.recolored = true;
    }
    this.redraw();
    this.handlers.onDrawn();
  }

  redraw(fresh = false) {
    if (fresh) this.recolored = true;
    if (this.planned || !this.places) return;
    this.planned = requestAnimationFrame(() => {
      this.planned = null;
      if (this.density) this.paintDensity();
      else this.paint();
      this.drawOver();
    });
  }

  // The last picture is moved and stretched with the view until the server has counted anew.
  paintDensity() {
    const [width, height] = [Math.max(1, this.host.clientWidth), Math.max(1, this.host.clientHeight)];
    Object.assign(this.canvas, { width, height });
    const [left, top] = this.toData(0, 0);
    const [right, bottom] = this.toData(width, height);
    this.density.show({ left, right, bottom, top, width, height }).catch((error) => this.handlers.onFail(error.message));
    const context = this.canvas.getContext("2d");
    context.fillStyle = this.options.background;
    context.fillRect(0, 0, width, height);
    const { box } = this.density;
    if (!box) return;
    if (this.recolored) {
      this.density.paint((row) => this.colors[this.places.placeOf[row]], this.options.palette, this.options.background);
      this.recolored = false;
    }
    const scale = this.scale;
    context.globalAlpha = this.chosen?.length ? 0.25 : 1;
    context.drawImage(
      this.density.canvas,
      (box.left - left) * scale,
      (top - box.top) * scale,
      (box.right - box.left) * scale,
      (box.top - box.bottom) * scale,
    );
    context.globalAlpha = 1;
    if (this.chosen?.length) this.paintChosen(context, width, height);
  }

  paintChosen(context, width, height) {
    const step = Math.ceil(this.chosen.length / MOST_POINTS);
    context.fillStyle = this.options.strong;
    for (let at = 0; at < this.chosen.length; at += step) {
      const place = this.chosen[at];
      const x = (this.places.x[place] - this.view.x) * this.scale + width / 2;
      const y = height / 2 - (this.places.y[place] - this.view.y) * this.scale;
      context.fillRect(x - 0.75, y - 0.75, 1.5, 1.5);
    }
  }

  // Points are blended into the pixels directly: a hundred thousand take some milliseconds.
  paint() {
    const ratio = devicePixelRatio || 1;
    const [width, height] = [this.host.clientWidth, this.host.clientHeight].map((side) => Math.max(1, Math.round(side * ratio)));
    // Setting a size, even the same, gives the canvas new memory.
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
    const context = this.canvas.getContext("2d");
    const image = context.createImageData(width, height);
    const [red, green, blue] = rgb(this.options.background);
    new Uint32Array(image.data.buffer).fill(((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0);
    const count = this.places.x.length;
    const radius = Math.max(1, Math.min(4, 16 / count ** 0.22)) * ratio;
    const stamp = disc(radius * Math.min(2, this.view.zoom ** 0.25), width);
    const opacity = Math.max(0.35, Math.min(0.9, 40 / count ** 0.45));
    if (this.chosen?.length) {
      this.blend(image, stamp, opacity * 0.15, null);
      this.blend(image, stamp, 1, this.chosen);
    } else this.blend(image, stamp, opacity, null);
    context.putImageData(image, 0, 0);
  }

  // Blends the points at `chosen` places, or all. One plain loop: sizes of elements, which are slow
  // to read, are read before it.
  blend({ data: pixels, width, height }, { half, size, offsets, cover }, strength, chosen) {
    const { x: xs, y: ys } = this.places;
    const palette = Uint8Array.from(this.options.palette.flatMap(rgb));
    const scale = this.scale * (devicePixelRatio || 1);
    const [left, top] = [width / 2 - this.view.x * scale, height / 2 + this.view.y * scale];
    const weights = cover.map((share) => share * strength);
    const count = chosen ? chosen.length : xs.length;
    for (let at = 0; at < count; at++) {
      const place = chosen ? chosen[at] : at;
      const column = Math.round(left + xs[place] * scale) - half;
      const line = Math.round(top - ys[place] * scale) - half;
      if (!(column >= 0 && line >= 0 && column + size <= width && line + size <= height)) continue;
      const start = 4 * (line * width + column);
      const color = 3 * this.colors[place];
      const [red, green, blue] = [palette[color], palette[color + 1], palette[color + 2]];
      for (let part = 0; part < offsets.length; part++) {
        const pixel = start + offsets[part];
        const weight = weights[part];
        pixels[pixel] += (red - pixels[pixel]) * weight;
        pixels[pixel + 1] += (green - pixels[pixel + 1]) * weight;
        pixels[pixel + 2] += (blue - pixels[pixel + 2]) * weight;
      }
    }
  }

  // The lasso and the point under the pointer are on a canvas of their own.
  drawOver() {
    const over = this.over;
    over.width = this.host.clientWidth;
    over.height = this.host.clientHeight;
    if (!this.places) return;
    const context = over.getContext("2d");
    const toScreen = (x, y) => [
      (x - this.view.x) * this.scale + over.width / 2,
      over.height / 2 - (y - this.view.y) * this.scale,
    ];
    drawMarks(context, this.marks, { toScreen, scale: this.scale, ...this.options });
    context.strokeStyle = this.options.accent;
    context.lineWidth = 1.5;
    if (this.path?.length > 1 && this.action?.lasso) {
      context.beginPath();
      this.path.forEach(([x, y]) => context.lineTo(...toScreen(x, y)));
      context.closePath();
      context.globalAlpha = 0.15;
      context.fillStyle = this.options.accent;
      context.fill();
      context.globalAlpha = 1;
      context.stroke();
    }
    if (this.lit >= 0) {
      const [x, y] = toScreen(this.places.x[this.lit], this.places.y[this.lit]);
      context.strokeStyle = this.options.ink;
      context.lineWidth = 2;
      context.beginPath();
      context.arc(x, y, 7, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  mark(marks) {
    this.marks = marks;
    this.drawOver();
  }

  select(places) {
    this.chosen = places;
    this.redraw();
  }

  hover(place) {
    if (place === this.lit) return;
    this.lit = place;
    this.drawOver();
  }

  mode(mode) {
    this.pointer = mode;
  }

  reset() {
    this.view = { x: 0, y: 0, zoom: 1 };
    this.redraw();
  }

  move(x, y, zoom) {
    const { view } = this;
    this.view = { x: view.x + x / view.zoom, y: view.y + y / view.zoom, zoom: view.zoom * zoom };
    this.redraw();
  }

  destroy() {
    this.resizing.disconnect();
    this.host.replaceChildren();
  }
}

// Pixels that a disc covers, as offsets in an image so many pixels wide, and the share of each.
function disc(radius, width) {
  const half = Math.ceil(radius);
  const size = 2 * half + 1;
  const [offsets, cover] = [[], []];
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      const share = Math.max(0, Math.min(1, radius + 0.5 - Math.hypot(row - half, column - half)));
      if (!share) continue;
      offsets.push(4 * (row * width + column));
      cover.push(share);
    }
  }
  return { half, size, offsets: Int32Array.from(offsets), cover: Float64Array.from(cover) };
}
