// The page: data and methods on the left, maps in the middle, what is known of them on the right.
import * as api from "./api.js";
import { qualityView } from "./quality.js";
import { compareView, rendererNotice } from "./compare.js";
import { dataPanel, openFile, showTable } from "./data_panel.js";
import { make, replace } from "./dom.js";
import { receiveJobs, whenEnded } from "./jobs.js";
import { methodPanel } from "./method_panel.js";
import { noticeBox, showError, showLost, showOnly } from "./notices.js";
import { rowsView } from "./rows.js";
import { samplesView } from "./samples.js";
import { state, subscribe, update } from "./state.js";
import { exportView } from "./export.js";

const TABS = { quality: "Quality", rows: "Rows", samples: "New samples", export: "Export" };

async function start() {
  followTheme();
  try {
    await api.startSession();
    update({ methods: await api.get("methods") });
  } catch (error) {
    showOnly(error.status === 401 ? "Open the address that unbend serve printed: it has the key to this page." : error.message);
    return;
  }
  build();
  api.whenLost(() => showLost(true));
  await new Promise((resolve) => {
    api.watchJobs(
      (jobs) => receiveJobs(jobs).then(resolve, showError),
      (connected) => showLost(!connected),
    );
  });
  await findTables();
}

// After a reload the table that was open last is shown again, with its maps.
async function findTables() {
  try {
    const { files, tables, first } = await api.get("tables");
    update({ files });
    const open = tables.at(-1);
    if (open?.facts) await showTable(open);
    else if (open) await openPending(open);
    else if (first) await openFile(first);
  } catch (error) {
    showError(error);
  }
}

async function openPending(open) {
  const job = state.jobs.findLast((each) => each.task === "open_file" && each.table === open.id);
  update({ table: { ...open, facts: null } });
  await whenEnded(job.id);
  await showTable({ ...open, facts: (await api.get(`jobs/${job.id}`)).result });
}

function build() {
  const views = { quality: qualityView(), rows: rowsView(), samples: samplesView(), export: exportView() };
  replace(
    document.body,
    make("a", { class: "skip", href: "#maps" }, "To the maps"),
    make(
      "header",
      { class: "top" },
      make("h1", {}, "unbend"),
      make("span", { class: "quiet tagline" }, "maps of data, and what they lose"),
      make("span", { class: "grow" }),
      make("button", { class: "small", onclick: toggleTheme, title: "Light or dark" }, "◐ Theme"),
    ),
    noticeBox(),
    make(
      "div",
      { class: "layout" },
      make("aside", { class: "left" }, dataPanel(), methodPanel(), rendererNotice()),
      make("main", { id: "maps" }, compareView()),
      make("aside", { class: "right" }, tabs(views)),
    ),
  );
}

function tabs(views) {
  const bar = make("div", { class: "tabs", role: "tablist" });
  const panels = Object.entries(views).map(([name, view]) =>
    make("div", { role: "tabpanel", id: `tab-${name}`, "aria-labelledby": `label-${name}`, tabindex: "-1" }, view),
  );
  const draw = () => {
    replace(bar, Object.entries(TABS).map(tab));
    panels.forEach((panel) => (panel.hidden = panel.id !== `tab-${state.tab}`));
  };
  subscribe(["tab"], draw);
  // The rows of a new selection are what people look for next.
  subscribe(["selection"], () => {
    if (state.selection?.length > 1 && state.tab === "export") update({ tab: "rows" });
  });
  draw();
  return make("div", { class: "panel" }, bar, panels);
}

function tab([name, text]) {
  const chosen = state.tab === name;
  return make(
    "button",
    {
      role: "tab",
      id: `label-${name}`,
      "aria-selected": String(chosen),
      "aria-controls": `tab-${name}`,
      tabindex: chosen ? "0" : "-1",
      onclick: () => update({ tab: name }),
      onkeydown: (event) => moveTab(event, name),
    },
    text,
  );
}

function moveTab(event, name) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const names = Object.keys(TABS);
  const next = names[(names.indexOf(name) + step + names.length) % names.length];
  update({ tab: next });
  document.getElementById(`label-${next}`).focus();
}

// The colours follow the system until a person chooses others.
function followTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    document.documentElement.dataset.theme = localStorage.getItem("theme") ?? (system.matches ? "dark" : "light");
    document.dispatchEvent(new Event("themechange"));
  };
  system.addEventListener("change", apply);
  apply();
}

function toggleTheme() {
  const { dataset } = document.documentElement;
  dataset.theme = dataset.theme === "dark" ? "light" : "dark";
  localStorage.setItem("theme", dataset.theme);
  document.dispatchEvent(new Event("themechange"));
}

start();
