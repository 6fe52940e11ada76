// Colours that colour-blind people can tell apart, chosen for each theme: a contrast of at least 3
// with its backgrounds leaves too narrow a range of lightness for one list. Hues follow Okabe and Ito.
const CLASSES = {
  light: [
    "#0072b2", "#da3c0c", "#0ca44a", "#bf77a0", "#2e353f", "#763005", "#6a613a", "#342288",
    "#941e61", "#064b32", "#77831f", "#be6cd9",
  ],
  dark: [
    "#0072b2", "#e8a105", "#67f3c5", "#a44d75", "#64bff2", "#cf5b05", "#f7e157", "#868ced",
    "#e799c0", "#31a69d", "#9d9e39", "#e77acd",
  ],
};
const theme = () => (document.documentElement.dataset.theme === "dark" ? "dark" : "light");
const classes = () => CLASSES[theme()];
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

// Without the end that is as dark, or as light, as the background.
const SEQUENTIAL = { light: ramp(VIRIDIS.slice(0, 7), STEPS), dark: ramp(VIRIDIS.slice(2), STEPS) };

// Colour numbers of points and the palette they point into; the last colour is that of no value.
export function colorClasses(codes, names) {
  const count = Math.min(names.length, MOST_COLORS);
  const palette = [...classes().slice(0, count), MISSING];
  const colors = new Uint8Array(codes.length);
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row];
    colors[row] = code !== code ? count : code % count;
  }
  return { kind: "classes", colors, palette, names, codes };
}

export function colorValues(values, title, range = null, reverse = false) {
  const [low, high] = range ?? rangeOf(values);
  const steps = reverse ? [...SEQUENTIAL[theme()]].reverse() : SEQUENTIAL[theme()];
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
  return { kind: "plain", colors: new Uint8Array(count), palette: [classes()[0], MISSING] };
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
export const MOST_COLORS = CLASSES.light.length;
export const classColor = (place) => classes()[place % MOST_COLORS];
