// Figures that respond: a roll to turn, the number of neighbours, noise, exaggeration.
// Data are computed by docs/_ext/interactive.py. No library, and nothing is loaded.
"use strict";

(() => {
  const STILL = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const VIRIDIS = [
    [68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142],
    [31, 158, 137], [53, 183, 121], [109, 205, 89], [180, 222, 44], [253, 231, 37],
  ];
  const CLASSES = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
    "#56b4e9", "#8c564b", "#7f7f7f", "#bcbd22", "#9467bd",
  ];

  function decode(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    const values = new Float32Array(bytes.length / 2);
    for (let i = 0; i < values.length; i += 1) values[i] = view.getUint16(2 * i, true) / 32767.5 - 1;
    return values;
  }

  function viridis(share) {
    const place = Math.min(Math.max(share, 0), 1) * (VIRIDIS.length - 1);
    const low = Math.min(Math.floor(place), VIRIDIS.length - 2);
    const mixed = VIRIDIS[low].map((v, i) => Math.round(v + (VIRIDIS[low + 1][i] - v) * (place - low)));
    return `rgb(${mixed.join(",")})`;
  }

  const isDark = () => document.documentElement.dataset.theme === "dark";

  // Colours of shares without the end of the scale that is close to the background.
  function scaleColors(shares) {
    const [low, high] = isDark() ? [0.3, 1] : [0, 0.9];
    return Array.from(shares, (share) => viridis(low + (high - low) * share));
  }

  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  // A canvas with one colour per point, drawn sharply whatever the pixel ratio.
  class Plot {
    constructor(label, colors, radius) {
      this.canvas = element("canvas", { role: "img", "aria-label": label });
      this.colors = colors;
      this.radius = radius;
      new ResizeObserver(() => this.draw()).observe(this.canvas);
    }

    show(points, order) {
      this.points = points;
      this.order = order;
      this.draw();
    }

    draw() {
      const side = this.canvas.clientWidth;
      if (!side || !this.points) return;
      const ratio = devicePixelRatio || 1;
      this.canvas.width = this.canvas.height = Math.round(side * ratio);
      const pen = this.canvas.getContext("2d");
      pen.scale(ratio, ratio);
      const scale = side / 2 - this.radius - 3;
      const count = this.colors.length;
      for (let place = 0; place < count; place += 1) {
        const i = this.order ? this.order[place] : place;
        pen.fillStyle = this.colors[i];
        pen.beginPath();
        pen.arc(side / 2 + this.points[2 * i] * scale, side / 2 - this.points[2 * i + 1] * scale,
          this.radius, 0, 2 * Math.PI);
        pen.fill();
      }
    }

    // Move the points to new places, so that the eye can follow them.
    moveTo(points) {
      const from = this.points;
      cancelAnimationFrame(this.frame);
      if (!from || STILL) return this.show(points);
      const begun = performance.now();
      const step = (now) => {
        const share = Math.min(Math.max((now - begun) / 350, 0), 1);
        const eased = share * share * (3 - 2 * share);
        this.show(points.map((value, i) => from[i] + (value - from[i]) * eased));
        if (share < 1) this.frame = requestAnimationFrame(step);
      };
      this.frame = requestAnimationFrame(step);
      return undefined;
    }
  }

  // Points in space, turned by dragging or by the arrow keys.
  class Space extends Plot {
    constructor(label, colors, radius) {
      super(label, colors, radius);
      this.turn = -1.2;
      this.tilt = 0.35;
      this.canvas.tabIndex = 0;
      this.canvas.classList.add("turns");
      this.canvas.addEventListener("pointerdown", (event) => {
        this.canvas.setPointerCapture(event.pointerId);
        this.last = [event.clientX, event.clientY];
      });
      this.canvas.addEventListener("pointermove", (event) => {
        if (!this.last) return;
        this.rotate((event.clientX - this.last[0]) / 120, (event.clientY - this.last[1]) / 120);
        this.last = [event.clientX, event.clientY];
      });
      for (const name of ["pointerup", "pointercancel"]) {
        this.canvas.addEventListener(name, () => { this.last = null; });
      }
      const keys = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] };
      this.canvas.addEventListener("keydown", (event) => {
        if (!keys[event.key]) return;
        event.preventDefault();
        this.rotate(...keys[event.key]);
      });
    }

    rotate(turn, tilt) {
      this.turn += turn;
      this.tilt = Math.min(Math.max(this.tilt + tilt, -1.5), 1.5);
      this.project();
    }

    place(cloud) {
      this.cloud = cloud;
      this.project();
    }

    project() {
      const [c, s] = [Math.cos(this.turn), Math.sin(this.turn)];
      const [ct, st] = [Math.cos(this.tilt), Math.sin(this.tilt)];
      const count = this.colors.length;
      const flat = new Float32Array(2 * count);
      const depth = new Float32Array(count);
      for (let i = 0; i < count; i += 1) {
        const [x, y, z] = this.cloud.subarray(3 * i, 3 * i + 3);
        const away = s * x + c * y;
        flat[2 * i] = (c * x - s * y) * 0.75;
        flat[2 * i + 1] = (ct * z + st * away) * 0.75;
        depth[i] = ct * away - st * z;
      }
      const order = Array.from(depth.keys()).sort((a, b) => depth[b] - depth[a]);
      this.show(flat, order);
    }
  }

  function slider(label, values, start, changed) {
    const shown = element("output", {}, String(values[start]));
    const input = element("input", { type: "range", min: 0, max: values.length - 1, step: 1, value: start });
    input.addEventListener("input", () => {
      shown.textContent = String(values[input.value]);
      changed();
    });
    return { input, row: element("label", {}, `${label} `, input, " ", shown) };
  }

  function rolls(host, data) {
    const shares = decode(data.color).map((value) => (value + 1) / 2);
    const colors = scaleColors(shares);
    const clouds = data.space.map(decode);
    const space = new Space("Points of a Swiss roll in space; drag to turn", colors, 3);
    const flat = new Plot("The embedding in the plane", colors, 3);
    const method = element("select", {}, ...data.methods.map((name) => element("option", {}, name)));
    method.value = "Isomap";
    const k = slider("neighbours", data.k, data.k.indexOf(8), () => update());
    const noise = slider("noise σ", data.noise, 0, () => update());
    const said = element("p", { class: "said", "aria-live": "polite" });

    function update() {
      const linear = method.value === "PCA";
      k.input.disabled = linear;
      const fit = data.fits[`${method.value}/${linear ? 0 : data.k[k.input.value]}/${noise.input.value}`];
      space.place(clouds[noise.input.value]);
      flat.moveTo(decode(fit.at));
      const verdict = fit.error < 0.01 ? "the true sheet" : fit.error < 0.1 ? "bent" : "not the sheet";
      said.textContent = `error of the chart: ${fit.error.toFixed(4)} (${verdict})`;
    }

    new MutationObserver(() => {
      for (const plot of [space, flat]) {
        plot.colors = scaleColors(shares);
        plot.draw();
      }
    }).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    method.addEventListener("change", update);
    host.replaceChildren(
      element("div", { class: "controls" }, element("label", {}, "method ", method), k.row, noise.row),
      element("div", { class: "plots" }, space.canvas, flat.canvas),
      said,
    );
    update();
  }

  function spectrum(host, data) {
    const flat = new Plot("Layout of 500 digits", data.label.map((label) => CLASSES[label]), 3.5);
    const layouts = data.at.map(decode);
    const value = slider("exaggeration", data.values, 0, () => update());
    const update = () => flat.moveTo(layouts[value.input.value]);
    const key = element("p", { class: "said" });
    CLASSES.forEach((color, digit) => {
      key.append(element("span", { style: `color:${color}` }, "● "), `${digit}  `);
    });
    host.replaceChildren(
      element("div", { class: "controls" }, value.row),
      element("div", { class: "plots one" }, flat.canvas),
      key,
    );
    update();
  }

  const kinds = { rolls, spectrum };
  for (const host of document.querySelectorAll("[data-figure]")) {
    const name = host.dataset.figure;
    kinds[name](host, window.unbendFigures[name]);
    host.dataset.ready = "true";
  }
})();
