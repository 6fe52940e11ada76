// Colours that colour-blind people can distinguish, and the scales made of them.

// Okabe and Ito's, then those of Tol that are far from them.
const CLASSES = [
  "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800", "#332288",
  "#882255", "#44aa99", "#999933", "#aa4499",
];
export const MISSING = "#9a9a9a";
const STEPS = 64;
const VIRIDIS = ["#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"];

export const rgb = (color) => [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
const hex = (parts) => `#${parts.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;

function ramp(anchors, count) {
  return Array.from({ length: count }, (_, step) => {
    const at = (step / (count - 1)) * (anchors.length - 1);
    const low = Math.min(Math.floor(at), anchors.length - 2);
    const [first, second] = [rgb(anchors[low]), rgb(anchors[low + 1])];
    return hex(first.map((part, place) => part + (at - low) * (second[place] - part)));
  });
}

const SEQUENTIAL = ramp(VIRIDIS, STEPS);

// Colour numbers of points and the palette they point into; the last colour is that of no value.
export function colorClasses(codes, names) {
  const count = Math.min(names.length, CLASSES.length);
  const palette = [...CLASSES.slice(0, count), MISSING];
  const colors = new Uint8Array(codes.length);
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row];
    colors[row] = code !== code ? count : code % count;
  }
  return { kind: "classes", colors, palette, names, codes };
}

export function colorValues(values, title, range = null, reverse = false) {
  const [low, high] = range ?? rangeOf(values);
  const steps = reverse ? [...SEQUENTIAL].reverse() : SEQUENTIAL;
  const factor = high > low ? (STEPS - 1) / (high - low) : 0;
  const colors = new Uint8Array(values.length);
  for (let row = 0; row < values.length; row++) {
    const value = values[row];
    const above = Math.min(Math.max(value - low, 0), high - low);
    colors[row] = value !== value ? STEPS : Math.round(above * factor);
  }
  return { kind: "values", colors, palette: [...steps, MISSING], low, high, title };
}

export function colorPlain(count) {
  return { kind: "plain", colors: new Uint8Array(count), palette: [CLASSES[0], MISSING] };
}

export function rangeOf(values) {
  let [low, high] = [Infinity, -Infinity];
  for (let row = 0; row < values.length; row++) {
    if (values[row] < low) low = values[row];
    if (values[row] > high) high = values[row];
  }
  return low <= high ? [low, high] : [0, 1];
}

// Classes from which colours repeat.
export const MOST_COLORS = CLASSES.length;
export const classColor = (place) => CLASSES[place % CLASSES.length];
