// The table: which one, what its columns are, and how they become features.
import * as api from "./api.js";
import { choice, labelled, make, makeSvg, number, replace } from "./dom.js";
import { canColor } from "./coloring.js";
import { refreshEmbeddings, whenEnded } from "./jobs.js";
import { showError } from "./notices.js";
import { state, subscribe, update } from "./state.js";

const SCALES = {
  none: "as they are",
  standard: "standardise",
  robust: "median and quartiles",
  range: "from 0 to 1",
  log: "logarithm, then standardise",
};
const POLICIES = {
  median: "impute the median",
  mean: "impute the mean",
  most_frequent: "impute the most frequent value",
  indicator: "impute and mark",
  drop: "drop the rows",
};

export function dataPanel() {
  const body = make("div", { class: "stack" });
  const file = make("input", { type: "file", hidden: true, onchange: () => send(file.files[0]) });
  const section = make("section", { class: "panel", "aria-label": "Data" }, make("h2", {}, "Data"), body, file);
  section.addEventListener("dragover", (event) => event.preventDefault());
  section.addEventListener("drop", (event) => {
    event.preventDefault();
    send(event.dataTransfer.files[0]);
  });
  const draw = () => replace(body, chooser(file), state.table?.facts ? described() : null);
  subscribe(["files", "table", "reading"], draw);
  draw();
  return section;
}

function chooser(file) {
  const options = state.files.map(({ name }) => [name, name]);
  const here = state.table && !state.files.some(({ name }) => name === state.table.name);
  if (here) options.unshift([state.table.name, state.table.name]);
  return make(
    "div",
    { class: "row" },
    choice([["", "Choose a table…"], ...options], state.table?.name ?? "", (name) => name && openFile(name), {
      "aria-label": "Table",
      class: "grow",
    }),
    make("button", { onclick: () => file.click() }, "Upload…"),
  );
}

async function send(file) {
  if (file) await receive(() => api.upload("uploads", file), file.name);
}

export const openFile = (name) => receive(() => api.post("tables", { name }), name);

async function receive(ask, name) {
  const { table: before, advice } = state;
  update({ table: { id: null, name, facts: null }, advice: null });
  try {
    const { table, job } = await ask();
    await whenEnded(job);
    await showTable({ ...table, facts: (await api.get(`jobs/${job}`)).result });
  } catch (error) {
    showError(error);
    // What was open before is still there.
    update({ table: before, advice: advice === "pending" ? null : advice });
  }
}

export async function showTable(table) {
  const { facts } = table;
  const gaps = facts.columns.some((column) => column.missing);
  const reading = { label: facts.label, ignore: [], scale: "auto", missing: gaps ? "median" : "error" };
  update({ table, reading, color: colorOf(facts, facts.label), selection: null, picked: -1, shown: [], current: null });
  await refreshEmbeddings();
  const mine = [...state.embeddings.values()].filter((each) => each.table === table.id && each.facts);
  update({ shown: mine.slice(-6).map((each) => each.id), current: mine.at(-1)?.id ?? null });
  advise();
}

let asked = 0;

// Advice follows every change of the roles, once they rest.
async function advise() {
  const mine = ++asked;
  update({ advice: "pending" });
  await new Promise((resolve) => setTimeout(resolve, 400));
  if (mine !== asked) return;
  try {
    const job = await api.post(`tables/${state.table.id}/advice`, state.reading);
    await whenEnded(job.id);
    const { result } = await api.get(`jobs/${job.id}`);
    if (mine === asked) update({ advice: result });
  } catch (error) {
    // Advice gives way to what people ask for.
    if (mine === asked) update({ advice: error.message === "cancelled" ? null : { error: error.message } });
  }
}

function change(changes) {
  update({ reading: { ...state.reading, ...changes } });
  advise();
}

// The label as a colour, or one colour without a label that has few enough classes.
function colorOf(facts, name) {
  const label = facts.columns.find((column) => column.name === name);
  return { kind: "column", column: label && canColor(label) ? label.name : null };
}

function chooseLabel(name) {
  update({ color: colorOf(state.table.facts, name) });
  change({ label: name });
}

function described() {
  const { facts } = state.table;
  const { reading } = state;
  const names = facts.columns.map(({ name }) => [name, name]);
  return make(
    "div",
    { class: "stack" },
    make(
      "div",
      { class: "row" },
      make("span", { class: "quiet grow" }, `${facts.rows.toLocaleString("en")} rows, ${facts.columns.length} columns`),
      state.files.some(({ name }) => name === state.table.name)
        ? make("button", { class: "small", title: "Read the file again", onclick: () => openFile(state.table.name) }, "Read again")
        : null,
    ),
    labelled(
      "Label",
      choice([["", "none"], ...names], reading.label ?? "", (name) => chooseLabel(name || null)),
      "A column that is no feature: classes or values to colour by",
    ),
    remarks(facts, reading),
    facts.scale ? scaling(facts, reading) : null,
    gapPolicy(facts, reading),
    columnList(facts, reading),
  );
}

const used = (facts, reading) =>
  facts.columns.filter(({ name }) => name !== reading.label && !reading.ignore.includes(name));

function remarks(facts, reading) {
  const said = [];
  const { dominant } = facts;
  if (dominant && used(facts, reading).some(({ name }) => name === dominant.name)) {
    const share = `${Math.floor(1000 * dominant.share) / 10} %`;
    const standard = ["auto", "standard", "robust", "range"].includes(reading.scale);
    said.push(
      make(
        "div",
        { class: "notice" },
        `Column “${dominant.name}” has ${share} of the variance: `,
        standard
          ? "columns are standardised, so that the others count too."
          : "the map would show little else. ",
        standard ? null : make("button", { class: "small", onclick: () => change({ scale: "standard" }) }, "Standardise"),
      ),
    );
  }
  const label = facts.columns.find(({ name }) => name === reading.label);
  if (label && !canColor(label)) {
    said.push(make("p", { class: "quiet" }, `“${label.name}” has too many classes to colour by.`));
  }
  const left = used(facts, reading).filter(({ kind }) => ["id", "text", "constant"].includes(kind));
  if (left.length) {
    const listed = left.slice(0, 4).map(({ name, kind }) => `${name} (${kind})`).join(", ");
    said.push(make("p", { class: "quiet" }, `Left out: ${listed}${left.length > 4 ? ` and ${left.length - 4} more` : ""}.`));
  }
  return make("div", { class: "stack" }, said);
}

function scaling(facts, reading) {
  const auto = `auto: ${SCALES[facts.scale.scale] ?? facts.scale.scale}`;
  return labelled(
    "Scale",
    choice([["auto", auto], ...Object.entries(SCALES)], reading.scale, (scale) => change({ scale })),
    facts.scale.reason,
  );
}

function gapPolicy(facts, reading) {
  const gaps = used(facts, reading).filter(({ missing }) => missing);
  if (!gaps.length) return null;
  const count = gaps.reduce((sum, { missing }) => sum + missing, 0);
  return labelled(
    `Missing (${count})`,
    choice(Object.entries(POLICIES), reading.missing, (missing) => change({ missing })),
    `Values are missing in ${gaps.map(({ name }) => name).slice(0, 8).join(", ")}`,
  );
}

function columnList(facts, reading) {
  const toggle = (name, on) =>
    change({ ignore: on ? reading.ignore.filter((each) => each !== name) : [...reading.ignore, name] });
  const rows = facts.columns.slice(0, 300).map((column) =>
    make(
      "li",
      { title: describe(column) },
      make("input", {
        type: "checkbox",
        "aria-label": `Use ${column.name}`,
        checked: column.name !== reading.label && !reading.ignore.includes(column.name),
        disabled: column.name === reading.label,
        onchange: (event) => toggle(column.name, event.target.checked),
      }),
      make("span", { class: "name" }, column.name),
      make("span", { class: "quiet kind" }, column.name === reading.label ? "label" : column.kind),
      column.missing ? make("span", { class: "gap" }, `${column.missing} missing`) : null,
      column.bars ? histogram(column.bars) : make("span", {}),
    ),
  );
  const more = facts.columns.length - rows.length;
  if (more > 0) rows.push(make("li", { class: "quiet" }, `and ${more} more`));
  // It is made anew with every change of the roles, and stays open where it was.
  const before = document.querySelector(".columns");
  const same = columnsOf === state.table.id && before;
  columnsOf = state.table.id;
  const open = same ? before.open : facts.columns.length <= 12;
  const list = make("ul", {}, rows);
  const scrolled = same ? before.querySelector("ul").scrollTop : 0;
  requestAnimationFrame(() => (list.scrollTop = scrolled));
  return make("details", { class: "columns", open }, make("summary", {}, "Columns"), list);
}

// Table whose columns are listed.
let columnsOf = null;

function describe(column) {
  const facts = [column.reason || column.kind];
  if (column.mean !== null) {
    facts.push(`from ${number(column.least)} to ${number(column.most)}`);
    facts.push(`mean ${number(column.mean)}, standard deviation ${number(column.deviation)}`);
  }
  if (column.share !== null) facts.push(`${number(100 * column.share, 2)} % of the variance`);
  return facts.join("; ");
}

function histogram(bars) {
  const most = Math.max(...bars, 1);
  const drawn = bars.map((count, place) =>
    makeSvg("rect", { x: place * 3, width: 2.4, y: 14 * (1 - count / most), height: 14 * (count / most) }),
  );
  return makeSvg("svg", { class: "bars", viewBox: "0 0 48 14", "aria-hidden": "true" }, drawn);
}
