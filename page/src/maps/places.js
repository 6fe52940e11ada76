// Where points are drawn: rows that are on a map, scaled alike on both axes into [-1, 1].

export function placePoints(values, columns) {
  const count = values.length / columns;
  const second = columns > 1 ? 1 : 0;
  let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
  const rows = [];
  for (let row = 0; row < count; row++) {
    const x = values[row * columns];
    const y = values[row * columns + second];
    if (Number.isNaN(x)) continue;
    rows.push(row);
    left = Math.min(left, x);
    right = Math.max(right, x);
    bottom = Math.min(bottom, y);
    top = Math.max(top, y);
  }
  const center = [(left + right) / 2, (bottom + top) / 2];
  const reach = Math.max(right - left, top - bottom, 1e-30) / 2 / 0.92;
  const toScreen = (x, y) => [(x - center[0]) / reach, (y - center[1]) / reach];
  const places = { x: new Float32Array(rows.length), y: new Float32Array(rows.length) };
  rows.forEach((row, place) => {
    const [x, y] = toScreen(values[row * columns], values[row * columns + second]);
    places.x[place] = x;
    places.y[place] = columns > 1 ? y : jitter(row);
  });
  const placeOf = new Int32Array(count).fill(-1);
  rows.forEach((row, place) => (placeOf[row] = place));
  return { ...places, rows: Uint32Array.from(rows), placeOf, toScreen, reach };
}

// One coordinate is drawn as a strip in which points lie beside each other.
function jitter(row) {
  return (((row * 2654435761) % 4096) / 4096 - 0.5) * 0.5;
}

export function inside(polygon, x, y) {
  let within = false;
  for (let at = 0, before = polygon.length - 1; at < polygon.length; before = at++) {
    const [ax, ay] = polygon[at];
    const [bx, by] = polygon[before];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) within = !within;
  }
  return within;
}
