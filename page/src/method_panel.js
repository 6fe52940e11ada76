// Methods as cards: the advice first, then every method with its declared parameters.
import * as api from "./api.js";
import { choice, duration, labelled, make, replace } from "./dom.js";
import { jobList } from "./jobs.js";
import { showError } from "./notices.js";
import { state, subscribe } from "./state.js";

export function methodPanel() {
  const advice = make("div", { class: "advice" });
  const cards = make("div", { class: "cards" });
  const section = make(
    "section",
    { class: "panel", "aria-label": "Methods" },
    make("h2", {}, "Methods"),
    jobList(),
    advice,
    cards,
  );
  const drawAdvice = () => replace(advice, ...advised());
  const drawCards = () => {
    section.hidden = !state.table?.facts;
    replace(cards, state.table?.facts ? state.methods.map(card) : []);
  };
  subscribe(["advice"], drawAdvice);
  subscribe(["methods", "table"], drawCards);
  drawCards();
  return section;
}

function advised() {
  const { advice } = state;
  // The list of jobs shows that it is being looked for.
  if (!advice || advice === "pending") return [];
  if (advice.error) return [make("div", { class: "notice" }, advice.error)];
  const known = [advice.method, ...advice.alternatives].filter(({ name }) => name).slice(0, 3);
  return [
    make("h3", {}, "Suggested"),
    make(
      "div",
      { class: "row wrap" },
      known.map(({ name, parameters }, place) =>
        make(
          "button",
          { class: place ? "" : "primary", title: describe(parameters), onclick: () => fit(name, parameters) },
          state.methods.find((each) => each.name === name)?.title ?? name,
        ),
      ),
    ),
    make(
      "details",
      {},
      make("summary", {}, "Why"),
      make("ul", { class: "reasons" }, advice.reasons.map((reason) => make("li", {}, reason))),
    ),
  ];
}

const describe = (parameters) =>
  Object.entries(parameters).map(([name, value]) => `${name}=${value}`).join(", ") || "default parameters";

export async function fit(method, parameters) {
  try {
    await api.post("jobs", { table: state.table.id, reading: state.reading, method, parameters });
  } catch (error) {
    showError(error);
  }
}

function card(method) {
  const rows = state.table.facts.rows;
  const seconds = method.seconds * (rows / 1000) ** method.power;
  const memory = method.bytes_per_pair * rows ** 2;
  const heavy = memory > 2e9 ? `, ${(memory / 1e9).toFixed(0)} GB` : "";
  const form = make("form", { class: "stack", onsubmit: (event) => submit(event, method) });
  const element = make(
    "details",
    { class: "card", "data-method": method.name },
    make(
      "summary",
      {},
      make("strong", {}, method.title),
      make("span", { class: "quiet" }, method.good_for),
      make("span", { class: "cost" }, duration(seconds) + heavy),
    ),
    form,
  );
  // A form is made when it is first seen: all of them have three hundred fields.
  element.addEventListener("toggle", () => {
    if (element.open && !form.children.length) fillForm(form, method);
  });
  return element;
}

function fillForm(form, method) {
  const [first, more] = [true, false].map((wanted) =>
    method.parameters.filter((each) => each.first === wanted).map(field),
  );
  form.append(
    ...first,
    make("details", {}, make("summary", {}, "More parameters"), make("div", { class: "stack" }, more)),
    make("button", { type: "submit", class: "primary" }, "Fit"),
  );
}

function field(parameter) {
  const { name, words, number, flag, help } = parameter;
  const text = name.replaceAll("_", " ");
  const initial = parameter.default;
  if (flag && !words.length && !number) {
    return labelled(text, make("input", { type: "checkbox", name, checked: initial === true }), help);
  }
  if (words.length && !number) {
    const options = words.map((word) => [word, word]);
    if (parameter.none) options.unshift(["", "none"]);
    return labelled(text, choice(options, initial ?? "", () => {}, { name }), help);
  }
  const list = words.length ? `words-${name}-${Math.random().toString(36).slice(2)}` : null;
  const input = make("input", {
    name,
    list,
    inputmode: number && !words.length ? "decimal" : null,
    value: initial === null || initial === undefined ? "" : String(initial),
    placeholder: parameter.none ? "automatic" : "",
    autocomplete: "off",
  });
  const offered = list ? make("datalist", { id: list }, words.map((word) => make("option", { value: word }))) : null;
  return labelled(text, make("span", {}, input, offered), help);
}

function submit(event, method) {
  event.preventDefault();
  const parameters = {};
  for (const parameter of method.parameters) {
    const control = event.target.elements[parameter.name];
    if (!control) continue;
    const value = valueOf(parameter, control);
    if (value !== parameter.default) parameters[parameter.name] = value;
  }
  fit(method.name, parameters);
}

function valueOf(parameter, control) {
  if (control.type === "checkbox") return control.checked;
  const text = control.value.trim();
  if (text === "") return parameter.none ? null : parameter.default;
  const value = Number(text);
  return parameter.number && !Number.isNaN(value) ? value : text;
}
