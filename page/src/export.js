// Everything of a map to keep: coordinates, model, picture, and the code that makes it again.
import * as api from "./api.js";
import { download, make, replace } from "./dom.js";
import { runTask } from "./jobs.js";
import { showError } from "./notices.js";
import { currentMap, state, subscribe } from "./state.js";

export function exportView() {
  const body = make("div", { class: "stack" });
  let drawn = "";
  const draw = async () => {
    if (state.tab !== "export") return;
    const embedding = currentMap();
    const key = `${embedding?.id} ${Boolean(embedding?.facts)}`;
    if (key === drawn) return;
    drawn = key;
    if (!embedding?.facts) return replace(body, make("p", { class: "quiet" }, "Fit a method first."));
    try {
      const [python, shell] = await Promise.all(["map.py", "map.sh"].map((name) => api.text(`embeddings/${embedding.id}/files/${name}`)));
      if (key === drawn) replace(body, ...show(embedding, python, shell));
    } catch (error) {
      showError(error);
    }
  };
  subscribe(["current", "embeddings", "tab"], draw);
  return body;
}

function show(embedding, python, shell) {
  const file = (name) => `/api/embeddings/${embedding.id}/files/${name}`;
  const link = (name, text) => make("a", { class: "button", href: file(name), download: name }, text);
  // Files that are made when they are asked for.
  const made = (name, text, task, title) => {
    const button = make("button", { title }, text);
    button.addEventListener("click", async () => {
      button.disabled = true;
      try {
        await runTask(embedding, task);
        const anchor = make("a", { href: file(name), download: name });
        document.body.append(anchor);
        anchor.click();
        anchor.remove();
      } catch (error) {
        showError(error);
      }
      button.disabled = false;
    });
    return button;
  };
  return [
    make("h3", {}, embedding.title),
    make("div", { class: "row wrap" }, link("coordinates.csv", "Coordinates"), link("model.unbend", "Model"), made("picture.png", "Picture", "draw_picture", "The map as a PNG file"), made("report.html", "Report", "write_report", "A page about the table, as unbend report writes it")),
    make("p", { class: "quiet" }, "Either of these makes exactly this map again; run them in the folder of the table."),
    code("Python", "map.py", python),
    code("Shell", "map.sh", shell),
    make("details", {}, make("summary", {}, "What the fit did"), make("pre", {}, [...embedding.facts.preparation, ...embedding.facts.report].join("\n"))),
  ];
}

function code(language, name, text) {
  const copy = make("button", { class: "small" }, "Copy");
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    copy.textContent = "Copied";
  });
  return make(
    "div",
    { class: "code" },
    make("div", { class: "row" }, make("strong", { class: "grow" }, language), copy, make("button", { class: "small", onclick: () => download(name, text) }, "Save")),
    make("pre", { "data-code": name }, text),
  );
}
