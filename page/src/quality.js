// How far a map can be trusted: measures, diagrams and curves of what it keeps and loses.
import * as api from "./api.js";
import { array } from "./arrays.js";
import { classColor } from "./colors.js";
import { curves } from "./curves.js";
import { pairDiagram } from "./diagrams.js";
import { make, number, replace } from "./dom.js";
import { runTask } from "./jobs.js";
import { showError } from "./notices.js";
import { currentMap, shownMaps, state, subscribe, update } from "./state.js";

export function qualityView() {
  const body = make("div", { class: "stack" });
  const neighbors = make("div", { class: "stack" });
  const view = make("div", { class: "stack", id: "quality" }, neighbors, body);
  let drawn = "";
  const draw = async () => {
    if (state.tab !== "quality") return;
    const embedding = currentMap();
    const measured = shownMaps().filter((each) => each.results.measure);
    const key = `${embedding?.id} ${Boolean(embedding?.results.measure)} ${embedding?.results.count_dimensions?.verdict} ${measured.map(({ id }) => id)}`;
    if (key === drawn) return;
    drawn = key;
    try {
      const parts = embedding?.facts ? await show(embedding, measured) : [make("p", { class: "quiet" }, "Fit a method first.")];
      if (key === drawn) replace(body, ...parts);
    } catch (error) {
      showError(error);
    }
  };
  subscribe(["current", "embeddings", "shown", "tab"], draw);
  document.addEventListener("themechange", () => {
    drawn = "";
    draw();
  });
  subscribe(["picked", "current"], () => drawNeighbors(neighbors));
  draw();
  return view;
}

async function show(embedding, measured) {
  const head = make("h3", {}, embedding.title);
  const { measure } = embedding.results;
  if (!measure) {
    runTask(embedding, "measure").catch(showError);
    return [head, make("p", { class: "quiet" }, "Measuring…")];
  }
  const [pairs, ranks] = await Promise.all([array(embedding.id, "pairs"), array(embedding.id, "ranks")]);
  const onBrush = (rows) => update({ selection: rows.length ? rows : null });
  const sampled = measure.sampled ? ` Diagrams show a sample of ${measure.sampled} rows.` : "";
  return [
    head,
    make("ul", { class: "verdict" }, verdicts(measure, embedding).map((line) => make("li", {}, line))),
    make("p", { class: "quiet" }, `Distances are those of the prepared columns.${sampled}`),
    make("h4", {}, "Neighbourhood preservation by size"),
    curves(
      "R_NX: 1 is perfect, 0 is chance",
      "neighbours",
      measured.map((each, place) => ({ name: each.title, x: each.results.measure.k, y: each.results.measure.r_nx, color: classColor(place) })),
      { logarithmic: true, low: 0 },
    ),
    make("p", { class: "quiet" }, "Drag over a region of the diagrams below, or click a cell, to light the points behind it."),
    make("h4", {}, "Distances (Shepard diagram)"),
    pairDiagram(pairs.values, { horizontal: "distance in the data", vertical: "distance on the map", onBrush }),
    make("h4", {}, "Ranks of near neighbours (co-ranking)"),
    pairDiagram(ranks.values, { horizontal: "rank in the data", vertical: "rank on the map", logarithmic: true, onBrush }),
    make("h4", {}, "Variance and dimension"),
    curves("Share of the variance of each principal component", "component", [series(measure.spectrum)], { points: true, low: 0 }),
    curves("Residual variance left by 1, 2, … coordinates", "coordinates", [series(measure.residual_variance)], { points: true, low: 0 }),
    ...dimension(embedding),
  ];
}

const series = (values) => ({ name: "", x: values.map((_, place) => place + 1), y: values, color: classColor(0) });

function verdicts(measure, embedding) {
  const grade = (value) => (value > 0.95 ? "good" : value > 0.85 ? "fair" : "poor");
  const { trustworthiness: trust, continuity, neighbors, r_nx_auc: area } = measure;
  const lines = [
    `Trustworthiness ${number(trust)} (${grade(trust)}): whether the ${neighbors} neighbours of a point on the map are neighbours in the data.`,
    `Continuity ${number(continuity)} (${grade(continuity)}): whether neighbours in the data stay neighbours on the map.`,
    `Neighbourhood preservation ${number(area)} (R_NX AUC), over all sizes of neighbourhoods.`,
  ];
  return [...lines, ...embedding.facts.warnings.map((warning) => `Warning: ${warning}`)];
}

function dimension(embedding) {
  const found = embedding.results.count_dimensions;
  if (!found) {
    const run = (event) => {
      event.target.disabled = true;
      runTask(embedding, "count_dimensions").catch(showError);
    };
    return [make("button", { onclick: run }, "Estimate the intrinsic dimension")];
  }
  const votes = Object.entries(found.votes).map(([name, vote]) =>
    make("tr", {}, make("td", {}, name.replaceAll("_", " ")), make("td", {}, number(vote))),
  );
  return [
    make("p", {}, `Intrinsic dimension of the data: ${found.verdict}.`),
    ...found.curves.map(dimensionCurve),
    make("details", {}, make("summary", {}, "Estimates"), make("table", { class: "plain" }, votes)),
  ];
}

// An estimate is reliable where its curve is constant, or follows the dashed line, in the shaded range.
function dimensionCurve({ title, x, lines, fit, fitted, horizontal, vertical }) {
  const drawn = lines.map((y, place) => ({ name: "", x, y, color: classColor(place) }));
  const ink = getComputedStyle(document.documentElement).getPropertyValue("--ink").trim();
  if (fit) drawn.push({ name: "", x, y: fit, color: ink, dash: [5, 4] });
  return curves(`${title} (${vertical})`, horizontal, drawn, { points: lines.length === 1, fitted });
}

async function drawNeighbors(box) {
  const embedding = currentMap();
  const row = state.picked;
  if (row < 0 || !embedding?.facts) {
    if (state.links) update({ links: null });
    return replace(box);
  }
  try {
    const found = await api.integers(`embeddings/${embedding.id}/neighbors?row=${row}`);
    const [data, map] = [found.slice(0, found.length / 2), found.slice(found.length / 2)];
    if (row !== state.picked || embedding.id !== state.current) return;
    update({ links: { row, data, map } });
    const kept = Array.from(data).filter((each) => map.includes(each)).length;
    const lists = [["in the data", data, map], ["on the map", map, data]];
    replace(
      box,
      make("h3", {}, `Row ${row + 1}`),
      make("p", {}, `${kept} of its ${data.length} neighbours in the data are neighbours on the map.`),
      make("p", { class: "quiet" }, "Lines on the maps lead to its neighbours in the data, dashed where this map lost them; rings are neighbours only on this map."),
      lists.map(([where, rows, others]) =>
        make(
          "div",
          { class: "row wrap" },
          make("span", { class: "quiet" }, `Neighbours ${where}:`),
          Array.from(rows, (each) =>
            make("button", { class: others.includes(each) ? "chip" : "chip odd", title: others.includes(each) ? "in both" : "only here", onclick: () => update({ picked: each }) }, String(each + 1)),
          ),
          make("button", { class: "small", onclick: () => update({ selection: Uint32Array.of(row, ...rows).sort() }) }, "Select"),
        ),
      ),
    );
  } catch (error) {
    if (error.status !== 404) showError(error);
    update({ links: null });
    replace(box);
  }
}
