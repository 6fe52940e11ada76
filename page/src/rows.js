// The selected rows as a table, what distinguishes them, and a file of them.
import * as api from "./api.js";
import { download, make, number, replace } from "./dom.js";
import { showError } from "./notices.js";
import { state, subscribe, update } from "./state.js";

const [MOST_ROWS, MOST_COLUMNS] = [100, 200];
const THUMBNAIL = 40;
// Letters from which a text is a snippet, and letters of a snippet.
const [LONG, MOST_LETTERS] = [40, 240];

export function rowsView() {
  const body = make("div", { class: "stack" });
  let round = 0;
  const draw = async () => {
    if (state.tab !== "rows") return;
    const mine = ++round;
    const { selection, table } = state;
    if (!table?.facts) return replace(body);
    if (!selection?.length) {
      return replace(body, make("p", { class: "quiet" }, "Lasso points on a map: hold Shift and drag, or choose Lasso above."));
    }
    try {
      const shown = selection.slice(0, MOST_ROWS);
      const [rows, differences] = await Promise.all([
        api.postRows(`tables/${table.id}/rows`, shown).then((answer) => answer.json()),
        api.postRows(`tables/${table.id}/selection`, selection).then((answer) => answer.json()),
      ]);
      if (mine === round) replace(body, head(selection), summary(differences, selection), tableOf(shown, rows));
    } catch (error) {
      showError(error);
    }
  };
  subscribe(["selection", "tab", "table"], draw);
  return body;
}

function head(selection) {
  const save = async () => {
    const answer = await api.postRows(`tables/${state.table.id}/download`, selection);
    download("selection.csv", await answer.text(), "text/csv");
  };
  return make(
    "div",
    { class: "row" },
    make("h3", { class: "grow" }, `${selection.length.toLocaleString("en")} selected ${selection.length === 1 ? "row" : "rows"}`),
    make("button", { onclick: () => save().catch(showError) }, "Download"),
  );
}

function summary(differences, selection) {
  if (selection.length < 2) return null;
  const strong = differences.filter(({ effect }) => Math.abs(effect) > 0.2).slice(0, 6);
  if (!strong.length) return make("p", { class: "quiet" }, "No column sets these rows apart from the others.");
  const lines = strong.map(({ column, level, inside, outside, effect }) =>
    level === undefined
      ? make("li", {}, make("strong", {}, column), ` is ${compared(inside, effect)}: mean ${shownValue(inside)}, elsewhere ${shownValue(outside)}`)
      : make("li", {}, make("strong", {}, `${column} = ${level}`), `: ${number(100 * inside, 2)} %, elsewhere ${number(100 * outside, 2)} %`),
  );
  return make("div", {}, make("h4", {}, "What distinguishes them"), make("ul", { class: "reasons" }, lines));
}

// Dates come as words.
const compared = (value, effect) => (typeof value === "string" ? ["earlier", "later"] : ["lower", "higher"])[Number(effect > 0)];
const shownValue = (value) => (typeof value === "string" ? value : number(value));

function tableOf(shown, { columns, cells }) {
  const picture = pictureSize();
  const order = columnOrder(columns).slice(0, MOST_COLUMNS);
  const heads = ["row", ...(picture ? ["picture"] : []), ...order.map((at) => columns[at])];
  const lines = cells.map((values, place) =>
    make(
      "tr",
      { tabindex: "0", onmouseenter: () => update({ hovered: shown[place] }), onfocus: () => update({ hovered: shown[place] }), onclick: () => update({ picked: shown[place] }) },
      make("td", {}, String(shown[place] + 1)),
      picture ? make("td", {}, thumbnail(values, picture)) : null,
      order.map((at) => cell(values[at])),
    ),
  );
  const more = state.selection.length - shown.length;
  return make(
    "div",
    {},
    make("div", { class: "scroll" }, make("table", { class: "rows" }, make("thead", {}, make("tr", {}, heads.map((name) => make("th", {}, name)))), make("tbody", {}, lines))),
    columns.length > order.length ? make("p", { class: "quiet" }, `${order.length} of ${columns.length} columns are shown; the download has all.`) : null,
    more > 0 ? make("p", { class: "quiet" }, `and ${more.toLocaleString("en")} more; the download has all.`) : null,
  );
}

// The label and texts come first: they say what a row is.
function columnOrder(columns) {
  const { facts } = state.table;
  const first = (name, at) => (name === state.reading.label ? 0 : ["text", "id"].includes(facts.columns[at].kind) ? 1 : 2);
  return columns.map((name, at) => [first(name, at), at]).sort(([a, at], [b, bt]) => a - b || at - bt).map(([, at]) => at);
}

// Long texts are snippets of a few lines, with all of it as a title.
function cell(value) {
  if (value === null) return make("td", { class: "quiet" }, "–");
  if (typeof value === "number") return make("td", { class: "number" }, number(value, 4));
  if (value.length <= LONG) return make("td", { title: value }, value);
  return make("td", { title: value }, make("div", { class: "snippet" }, value.length > MOST_LETTERS ? `${value.slice(0, MOST_LETTERS)}…` : value));
}

// Columns that may be the pixels of a square picture: a square number of them, with one range.
function pictureSize() {
  const { facts } = state.table;
  const pixels = facts.columns.map((column, place) => ({ ...column, place })).filter(({ name, mean, words }) => name !== state.reading.label && mean !== null && !words);
  const side = Math.sqrt(pixels.length);
  if (!Number.isInteger(side) || side < 6) return null;
  const low = Math.min(...pixels.map(({ least }) => least));
  const high = Math.max(...pixels.map(({ most }) => most));
  const alike = pixels.filter(({ most, least }) => most - least > 0.3 * (high - low)).length > 0.4 * pixels.length;
  return alike && high > low ? { side, low, high, places: pixels.map(({ place }) => place) } : null;
}

function thumbnail(values, { side, low, high, places }) {
  const canvas = make("canvas", { width: side, height: side, class: "thumbnail", role: "img", "aria-label": "picture of the row" });
  canvas.style.width = canvas.style.height = `${THUMBNAIL}px`;
  const image = canvas.getContext("2d").createImageData(side, side);
  places.forEach((place, at) => {
    const shade = 255 * (1 - ((values[place] ?? low) - low) / (high - low));
    image.data.set([shade, shade, shade, 255], 4 * at);
  });
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}
