// Elements from code. Text is only ever text: nothing here parses HTML.

const SVG = "http://www.w3.org/2000/svg";

export function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function makeSvg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "selected") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

// What has the focus keeps it where it is made anew, or keyboards would start from the top again.
export function replace(element, ...children) {
  const held = element.contains(document.activeElement) ? identity(document.activeElement) : null;
  element.replaceChildren(...children.flat().filter((child) => child !== null));
  if (held === null || element.contains(document.activeElement)) return;
  [...element.querySelectorAll("button, select, input, summary, a, [tabindex]")]
    .find((each) => identity(each) === held)
    ?.focus({ preventScroll: true });
}

function identity(element) {
  const label = element.getAttribute("aria-label") ?? element.labels?.[0]?.firstChild?.textContent ?? "";
  return [element.tagName, element.id, element.name, label, element.tagName === "BUTTON" ? element.textContent : ""].join(" ");
}

// A select of [value, text] pairs.
export function choice(options, value, onchange, attributes = {}) {
  const element = make(
    "select",
    { ...attributes, onchange: (event) => onchange(event.target.value) },
    options.map(([each, text]) => make("option", { value: each, selected: each === value }, text)),
  );
  element.value = value;
  return element;
}

export function labelled(text, control, hint) {
  return make("label", { class: "field", title: hint }, make("span", {}, text), control);
}

export function download(name, content, type = "text/plain") {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export function number(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value);
  return Number(value.toPrecision(digits)).toString();
}

// Days since 1970 as a date.
export function day(days) {
  const moment = new Date(days * 86_400_000);
  return Number.isNaN(moment.getTime()) ? "–" : moment.toISOString().slice(0, 10);
}

export function duration(seconds) {
  if (seconds < 1) return "under 1 s";
  if (seconds < 90) return `about ${Math.round(seconds)} s`;
  if (seconds < 5400) return `about ${Math.round(seconds / 60)} min`;
  return `about ${Math.round(seconds / 3600)} h`;
}
