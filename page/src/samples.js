// New samples: a file goes in, and its rows appear where `transform` puts them.
import * as api from "./api.js";
import { array, forget } from "./arrays.js";
import { make, replace } from "./dom.js";
import { whenEnded } from "./jobs.js";
import { placePoints } from "./maps/places.js";
import { showError } from "./notices.js";
import { currentMap, state, subscribe } from "./state.js";

const [WIDTH, HEIGHT] = [360, 320];

export function samplesView() {
  const result = make("div", { class: "stack" });
  const file = make("input", { type: "file", hidden: true, onchange: () => send(file.files[0]) });
  const drop = make(
    "div",
    { class: "drop", tabindex: "0", role: "button", onclick: () => file.click(), onkeydown: (event) => press(event, file) },
    "Drop a file with the same columns here, or choose one",
  );
  drop.addEventListener("dragover", (event) => event.preventDefault());
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    send(event.dataTransfer.files[0]);
  });
  async function send(chosen) {
    const embedding = currentMap();
    if (!chosen || !embedding?.facts) return;
    replace(result, make("p", { class: "quiet" }, `Transforming ${chosen.name}…`));
    try {
      const job = await api.upload(`embeddings/${embedding.id}/samples`, chosen);
      await whenEnded(job.id);
      forget(`embeddings/${embedding.id}/new`);
      const { result: facts } = await api.get(`jobs/${job.id}`);
      replace(result, ...(await show(embedding, facts, chosen.name)));
    } catch (error) {
      replace(result, make("div", { class: "notice bad", role: "alert" }, error.message));
    }
    file.value = "";
  }
  const title = make("h3", {});
  subscribe(["current", "embeddings", "tab"], () => {
    title.textContent = currentMap()?.title ?? "Fit a method first";
  });
  subscribe(["current"], () => replace(result));
  return make("div", { class: "stack" }, title, drop, file, result);
}

// Keys of a button.
function press(event, file) {
  if (event.key !== "Enter" && event.key !== " ") return;
  event.preventDefault();
  file.click();
}

async function show(embedding, facts, name) {
  const [old, fresh] = await Promise.all([array(embedding.id, "coordinates"), array(embedding.id, "new")]);
  const said = [`${facts.placed} of ${facts.rows} rows of ${name} are on the map.`];
  if (facts.far) said.push(`${facts.far} of them are far outside the training data: their places are extrapolated.`);
  said.push(...facts.warnings);
  return [make("p", {}, said.join(" ")), picture(old, fresh)];
}

// The map in grey, and the new samples on it.
function picture(old, fresh) {
  const ratio = devicePixelRatio || 1;
  const canvas = make("canvas", { width: WIDTH * ratio, height: HEIGHT * ratio, class: "diagram", role: "img", "aria-label": "New samples on the map" });
  const context = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  const places = placePoints(old.values, old.columns);
  context.scale(ratio, ratio);
  const scale = Math.min(WIDTH, HEIGHT) / 2;
  const spot = (x, y, radius) => {
    context.beginPath();
    context.arc(WIDTH / 2 + x * scale, HEIGHT / 2 - y * scale, radius, 0, 2 * Math.PI);
    context.fill();
  };
  context.fillStyle = style.getPropertyValue("--faint");
  const step = Math.ceil(places.x.length / 20_000);
  for (let at = 0; at < places.x.length; at += step) spot(places.x[at], places.y[at], 1.5);
  context.fillStyle = style.getPropertyValue("--strong");
  for (let at = 0; at < fresh.values.length; at += fresh.columns) {
    const [x, y] = places.toScreen(fresh.values[at], fresh.values[at + (fresh.columns > 1 ? 1 : 0)]);
    spot(x, fresh.columns > 1 ? y : 0, 3.5);
  }
  return canvas;
}
