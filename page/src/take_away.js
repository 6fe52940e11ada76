// Everything of a map to keep: coordinates, model, picture, and the code that makes it again.
import * as api from "./api.js";
import { download, make, replace } from "./dom.js";
import { runTask } from "./jobs.js";
import { showError } from "./notices.js";
import { currentMap, state, subscribe } from "./state.js";

export function takeAwayView() {
  const body = make("div", { class: "stack" });
  let drawn = "";
  const draw = async () => {
    if (state.tab !== "take") return;
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
  const picture = make("button", {}, "Picture");
  picture.addEventListener("click", async () => {
    picture.disabled = true;
    try {
      await runTask(embedding, "draw_picture");
      const anchor = make("a", { href: file("picture.png"), download: "picture.png" });
      document.body.append(anchor);
      anchor.click();
      anchor.remove();
    } catch (error) {
      showError(error);
    }
    picture.disabled = false;
  });
  return [
    make("h3", {}, embedding.title),
    make("div", { class: "row wrap" }, link("coordinates.csv", "Coordinates"), link("model.unbend", "Model"), picture),
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
