// One to six linked maps: what is lassoed or hovered in one is lit in all.
import * as api from "./api.js";
import { array, column, columnPlace, forget } from "./arrays.js";
import { canColor, coloringOf, LOSSES } from "./coloring.js";
import { classColor, MOST_COLORS } from "./colors.js";
import { choice, day, labelled, make, number, replace } from "./dom.js";
import { refreshEmbeddings } from "./jobs.js";
import { linkMarks, scaleEllipses } from "./maps/marks.js";
import { placePoints } from "./maps/places.js";
import { createMap, limit, notice } from "./maps/renderer.js";
import { showError } from "./notices.js";
import { MOST_MAPS, shownMaps, state, subscribe, update } from "./state.js";

const cards = new Map();

export function compareView() {
  const grid = make("div", { class: "grid" });
  const empty = make("div", { class: "empty" });
  const section = make("section", { class: "maps", "aria-label": "Maps" }, toolbar(), legendBox(), grid, empty);
  const draw = () => {
    drawGrid(grid);
    const none = !shownMaps().length;
    empty.hidden = !none;
    replace(empty, ...(none ? welcome() : []));
  };
  subscribe(["embeddings", "shown", "table"], draw);
  subscribe(["color", "shown", "embeddings"], recolor);
  subscribe(["selection"], () => cards.forEach((card) => card.showSelection()));
  subscribe(["links", "current", "selection"], () => cards.forEach((card) => card.showMarks()));
  subscribe(["hovered"], () => cards.forEach((card) => card.showHovered()));
  subscribe(["mode"], () => cards.forEach((card) => card.map.mode(state.mode)));
  subscribe(["current"], () => cards.forEach((card) => card.showCurrent()));
  document.addEventListener("themechange", recolor);
  draw();
  return section;
}

function welcome() {
  if (!state.table) {
    return [make("h2", {}, "Choose a table"), make("p", {}, "Pick a file of the served folder on the left, or drop one there.")];
  }
  if (!state.table.facts) return [make("p", {}, `Reading ${state.table.name}…`)];
  return [
    make("h2", {}, "No map yet"),
    make("p", {}, "Take a suggested method on the left, or open a method's card. Maps appear here, up to six beside each other."),
  ];
}

function toolbar() {
  const bar = make("div", { class: "toolbar", role: "toolbar", "aria-label": "Maps" });
  const draw = () => replace(bar, ...(state.table?.facts ? tools() : []));
  subscribe(["table", "color", "mode", "selection", "embeddings", "shown"], draw);
  draw();
  return bar;
}

function tools() {
  const columns = state.table.facts.columns
    .filter(canColor)
    .map(({ name }) => [`column:${name}`, name]);
  const losses = Object.entries(LOSSES).map(([name, { title }]) => [`loss:${name}`, title]);
  const { color } = state;
  const value = color.kind === "loss" ? `loss:${color.name}` : `column:${color.column ?? ""}`;
  const pick = make(
    "select",
    { "aria-label": "Colour by", onchange: (event) => update({ color: colorFrom(event.target.value) }) },
    make("option", { value: "column:" }, "one colour"),
    make("optgroup", { label: "What each map lost" }, losses.map(([each, text]) => make("option", { value: each }, text))),
    make("optgroup", { label: "Columns" }, columns.map(([each, text]) => make("option", { value: each }, text))),
  );
  pick.value = value;
  return [
    labelled("Colour by", pick),
    make("div", { class: "segments", role: "group", "aria-label": "Drag" }, ["pan", "lasso"].map(modeButton)),
    make("button", { title: "Show all points (0)", onclick: () => cards.forEach((card) => card.map.reset()) }, "Reset views"),
    selectBy(),
    make("span", { class: "grow" }),
    selected(state.selection?.length ?? 0),
    hiddenMaps(),
  ].filter(Boolean);
}

// Its room is kept without a selection, so that maps do not move under a lasso.
function selected(count) {
  const text = `${count.toLocaleString("en")} ${count === 1 ? "row" : "rows"} selected`;
  return make(
    "span",
    { class: count ? "selected" : "selected none" },
    make("span", { class: "quiet" }, count ? text : ""),
    make("button", { onclick: () => update({ selection: null, picked: -1 }) }, "Clear"),
  );
}

function modeButton(mode) {
  const title = mode === "pan" ? "Drag moves the map" : "Drag selects rows; with Shift it always does";
  const pressed = state.mode === mode;
  return make("button", { "aria-pressed": String(pressed), title, onclick: () => update({ mode }) }, mode === "pan" ? "Pan" : "Lasso");
}

function colorFrom(value) {
  const [kind, ...rest] = value.split(":");
  const name = rest.join(":");
  return kind === "loss" ? { kind, name } : { kind, column: name || null };
}

// Rows of one class, for keyboards and for exact selections.
function selectBy() {
  const facts = state.table.facts.columns.find(({ name }) => name === state.color.column);
  if (!facts?.levels || facts.levels.length > 60) return null;
  const options = [["", "Select a class…"], ...facts.levels.map((level, code) => [String(code), level])];
  return choice(
    options,
    "",
    async (code) => {
      if (code === "") return;
      const { values } = await column(state.table, columnPlace(facts.name));
      update({ selection: rowsWhere(values, (value) => value === Number(code)) });
    },
    { "aria-label": "Select a class" },
  );
}

function rowsWhere(values, test) {
  const rows = [];
  values.forEach((value, row) => test(value) && rows.push(row));
  return Uint32Array.from(rows);
}

function hiddenMaps() {
  const others = [...state.embeddings.values()].filter(
    (each) => each.facts && each.table === state.table.id && !state.shown.includes(each.id),
  );
  if (!others.length) return null;
  return choice(
    [["", "Show a map again…"], ...others.map((each) => [each.id, `${each.title} ${brief(each)}`])],
    "",
    (id) => id && update({ shown: [...state.shown, id].slice(-MOST_MAPS), current: id }),
    { "aria-label": "Show a map again" },
  );
}

const brief = (embedding) =>
  Object.entries(embedding.parameters).map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`).join(", ");

function legendBox() {
  const box = make("div", { class: "legend", "aria-label": "Legend" });
  document.addEventListener("recolored", ({ detail }) => replace(box, ...legend(detail)));
  subscribe(["table", "shown"], () => {
    if (!shownMaps().length) replace(box);
  });
  return box;
}

function legend(coloring) {
  if (!coloring || coloring.kind === "plain") return [];
  if (coloring.kind === "values") {
    const loss = state.color.kind === "loss" ? LOSSES[state.color.name] : null;
    const value = coloring.date ? day : number;
    const bar = make("canvas", { class: "bar", width: 128, height: 1, "aria-hidden": "true" });
    const context = bar.getContext("2d");
    coloring.palette.slice(0, -1).forEach((color, step) => {
      context.fillStyle = color;
      context.fillRect(step * 2, 0, 2, 1);
    });
    return [
      make("span", {}, loss ? loss.scale : coloring.title),
      make("span", { class: "scale" }, value(coloring.low), bar, value(coloring.high)),
    ];
  }
  const shown = coloring.names.slice(0, 24).map((name, place) => {
    const swatch = make("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.background = classColor(place);
    return make("button", { class: "key", title: "Select these rows", onclick: () => selectClass(coloring, place) }, swatch, name);
  });
  const more = coloring.names.length - shown.length;
  const remarks = [more > 0 ? `and ${more} more` : "", coloring.names.length > MOST_COLORS ? `colours repeat after ${MOST_COLORS} classes` : ""];
  return [...shown, make("span", { class: "quiet" }, remarks.filter(Boolean).join("; "))];
}

async function selectClass(coloring, place) {
  const facts = state.table.facts.columns[columnPlace(state.color.column)];
  const { values } = await column(state.table, columnPlace(state.color.column));
  const wanted = facts.levels ? place : Number(coloring.names[place]);
  update({ selection: rowsWhere(values, (value) => value === wanted) });
}

function drawGrid(grid) {
  const maps = shownMaps();
  for (const [id, card] of cards) {
    if (maps.some((each) => each.id === id)) continue;
    card.destroy();
    cards.delete(id);
  }
  for (const embedding of maps) {
    if (!cards.has(embedding.id)) cards.set(embedding.id, new MapCard(embedding, grid));
    cards.get(embedding.id).describe(embedding);
  }
  grid.dataset.count = maps.length;
}

let coloringRound = 0;

async function recolor() {
  const round = ++coloringRound;
  for (const embedding of shownMaps()) {
    try {
      const coloring = await coloringOf(embedding);
      if (round !== coloringRound) return;
      await cards.get(embedding.id)?.draw(coloring);
      document.dispatchEvent(new CustomEvent("recolored", { detail: coloring }));
    } catch (error) {
      showError(error);
    }
  }
}

const themeColor = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

class MapCard {
  constructor(embedding, grid) {
    this.id = embedding.id;
    this.host = make("div", { class: "map-host" });
    this.title = make("button", { class: "title", onclick: () => update({ current: this.id }) });
    this.facts = make("span", { class: "quiet facts" });
    this.status = make("div", { class: "tip", "aria-live": "off" });
    this.element = make(
      "article",
      { class: "map", "data-embedding": this.id },
      make(
        "header",
        {},
        this.title,
        this.facts,
        make("button", { class: "small", title: "Hide this map", "aria-label": "Hide this map", onclick: () => this.hide() }, "–"),
        make("button", { class: "small", title: "Remove this map", "aria-label": "Remove this map", onclick: () => this.remove() }, "×"),
      ),
      this.host,
      this.status,
    );
    grid.append(this.element);
    this.map = createMap(this.host, {
      onHover: (place) => update({ hovered: place < 0 ? -1 : this.places.rows[place] }),
      onSelect: (places) => this.choose(places),
      onDrawn: () => (this.element.dataset.drawn = "true"),
      onFail: (reason) => showError(new Error(`The map cannot be drawn: ${reason}`)),
      onKey: (key) => this.press(key),
    });
    this.map.mode(state.mode);
    this.showCurrent();
  }

  describe(embedding) {
    const measured = embedding.results.measure;
    this.title.textContent = embedding.title;
    const facts = [brief(embedding), `${number(embedding.facts.seconds, 2)} s`];
    if (measured) facts.push(`trust ${number(measured.trustworthiness)}`, `continuity ${number(measured.continuity)}`);
    if (embedding.facts.warnings.length) facts.push("⚠");
    this.facts.textContent = facts.filter(Boolean).join(" · ");
    this.facts.title = [embedding.facts.code, ...embedding.facts.preparation, ...embedding.facts.warnings].join("\n");
  }

  async draw(coloring) {
    if (!this.places) {
      const { values, columns } = await array(this.id, "coordinates");
      this.places = placePoints(values, columns);
      this.columns = columns;
      if (this.places.rows.length > limit) this.status.dataset.note = `density of ${this.places.rows.length.toLocaleString("en")} points, counted by the server`;
    }
    const { rows } = this.places;
    const colors = new Uint8Array(rows.length);
    for (let place = 0; place < rows.length; place++) colors[place] = coloring.colors[rows[place]];
    const [background, ink, accent, strong] = ["--map", "--ink", "--accent", "--strong"].map(themeColor);
    this.coloring = coloring;
    const options = { palette: coloring.palette, background, ink, accent, strong };
    if (rows.length > limit) options.density = (box) => this.countPoints(box);
    this.map.draw(this.places, colors, options);
    if (state.selection) this.showSelection();
    const unstable = state.color.kind === "loss" && state.color.name === "stability";
    this.ellipses = unstable ? (await array(this.id, "ellipses")).values : null;
    this.showMarks();
  }

  showMarks() {
    if (!this.places) return;
    const links = state.links ? linkMarks(state.links, this.places, state.current === this.id) : {};
    const ellipses = this.ellipses && scaleEllipses(this.ellipses, this.places, state.selection);
    this.map.mark({ ellipses, ...links });
    this.element.dataset.marks = `${(ellipses?.length ?? 0) / 5} ellipses, ${(links.lines?.length ?? 0) / 5} lines`;
  }

  // A map of one coordinate has heights of its own, which are not scaled.
  countPoints({ left, right, bottom, top, width, height }) {
    const { center, reach } = this.places;
    const [across, up] = [(x) => x * reach + center[0], (y) => (this.columns > 1 ? y * reach + center[1] : y)];
    const sides = { left: across(left), right: across(right), bottom: up(bottom), top: up(top), width, height };
    return api.integers(`embeddings/${this.id}/density?${new URLSearchParams(sides)}`);
  }

  choose(places) {
    // The renderer gives them in the order of its index.
    const rows = places.map((place) => this.places.rows[place]).sort();
    if (rows.length === 1) update({ picked: rows[0], current: this.id, selection: rows });
    else update({ selection: rows.length ? rows : null, current: this.id });
  }

  showSelection() {
    if (!this.places) return;
    const chosen = (state.selection ?? new Uint32Array()).map((row) => this.places.placeOf[row]);
    // Rows that are not on the map have the place −1, which is the largest number without a sign.
    this.map.select(chosen.filter((place) => place < this.places.rows.length));
  }

  showHovered() {
    if (!this.places) return;
    const place = state.hovered < 0 ? -1 : this.places.placeOf[state.hovered];
    this.map.hover(place);
    this.status.textContent = place < 0 ? "" : `row ${state.hovered + 1}${this.valueAt(state.hovered)}`;
  }

  valueAt(row) {
    const { coloring } = this;
    if (coloring?.kind !== "classes") return "";
    return ` · ${state.color.column}: ${coloring.names[coloring.codes[row]] ?? "missing"}`;
  }

  press(key) {
    const moves = { ArrowLeft: [-0.2, 0, 1], ArrowRight: [0.2, 0, 1], ArrowUp: [0, 0.2, 1], ArrowDown: [0, -0.2, 1] };
    const zooms = { "+": [0, 0, 1.3], "=": [0, 0, 1.3], "-": [0, 0, 1 / 1.3] };
    const move = moves[key] ?? zooms[key];
    if (move) this.map.move(...move);
    else if (key === "0") this.map.reset();
    else if (key === "Escape") update({ selection: null, picked: -1 });
    else if (key === "l") update({ mode: state.mode === "lasso" ? "pan" : "lasso" });
  }

  showCurrent() {
    this.element.classList.toggle("current", state.current === this.id);
  }

  hide() {
    const shown = state.shown.filter((id) => id !== this.id);
    update({ shown, current: state.current === this.id ? (shown[0] ?? null) : state.current });
  }

  async remove() {
    try {
      await api.remove(`embeddings/${this.id}`);
      forget(`embeddings/${this.id}/`);
      await refreshEmbeddings();
    } catch (error) {
      showError(error);
    }
  }

  destroy() {
    this.map.destroy();
    this.element.remove();
  }
}

export const rendererNotice = () => (notice ? make("p", { class: "quiet renderer" }, notice) : null);
