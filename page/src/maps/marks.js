// What is drawn over the points of a map: ellipses of stability, and lines to neighbours.

const MOST_ELLIPSES = 80;

// `ellipses` has rows of [x, y, half of the first axis, half of the second, angle], `lines` of
// [x, y, x, y, whether the map lost the neighbour], `rings` of [x, y]; `toScreen` gives pixels and
// `scale` pixels per unit.
export function drawMarks(context, { ellipses, lines, rings }, { toScreen, scale, ink, accent, strong }) {
  context.save();
  context.lineWidth = 1;
  context.strokeStyle = ink;
  context.globalAlpha = 0.5;
  for (let at = 0; at < (ellipses?.length ?? 0); at += 5) {
    const [x, y] = toScreen(ellipses[at], ellipses[at + 1]);
    context.beginPath();
    // Angles turn the other way on screens, where y grows downwards.
    context.ellipse(x, y, ellipses[at + 2] * scale, ellipses[at + 3] * scale, -ellipses[at + 4], 0, 2 * Math.PI);
    context.stroke();
  }
  context.globalAlpha = 1;
  context.lineWidth = 1.5;
  for (let at = 0; at < (lines?.length ?? 0); at += 5) {
    const lost = lines[at + 4] > 0;
    context.strokeStyle = lost ? strong : accent;
    context.setLineDash(lost ? [5, 3] : []);
    context.beginPath();
    context.moveTo(...toScreen(lines[at], lines[at + 1]));
    context.lineTo(...toScreen(lines[at + 2], lines[at + 3]));
    context.stroke();
  }
  context.setLineDash([]);
  context.strokeStyle = strong;
  for (let at = 0; at < (rings?.length ?? 0); at += 2) {
    context.beginPath();
    context.arc(...toScreen(rings[at], rings[at + 1]), 5, 0, 2 * Math.PI);
    context.stroke();
  }
  context.restore();
}

// Ellipses of the server have rows of [row, x, y, full axes, degrees], in units of the coordinates.
// Those of selected rows are drawn, or a few of all, since many hide one another.
export function scaleEllipses(values, places, selection) {
  const chosen = selection && new Set(selection);
  const starts = Array.from({ length: values.length / 6 }, (_, place) => 6 * place).filter((at) => !chosen || chosen.has(values[at]));
  const step = Math.ceil(starts.length / MOST_ELLIPSES);
  const scaled = starts
    .filter((_, place) => place % step === 0)
    .map((at) => {
      const [, x, y, first, second, angle] = values.subarray(at, at + 6);
      return [...places.toScreen(x, y), first / 2 / places.reach, second / 2 / places.reach, (angle * Math.PI) / 180];
    });
  return Float32Array.from(scaled.flat());
}

// Lines from a row to its neighbours in the data, dashed where the map lost them; rings around those
// that are neighbours only on the map.
export function linkMarks({ row, data, map }, places, isCurrent) {
  const place = places.placeOf[row];
  if (!(place >= 0)) return {};
  const known = new Set(map);
  const lines = [];
  for (const other of data) {
    const to = places.placeOf[other];
    if (to >= 0) lines.push(places.x[place], places.y[place], places.x[to], places.y[to], isCurrent && !known.has(other) ? 1 : 0);
  }
  const rings = [];
  const inData = new Set(data);
  for (const other of isCurrent ? map : []) {
    const to = places.placeOf[other];
    if (to >= 0 && !inData.has(other)) rings.push(places.x[to], places.y[to]);
  }
  return { lines: Float32Array.from(lines), rings: Float32Array.from(rings) };
}
