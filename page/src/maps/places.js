// Where points are drawn: rows that are on a map, scaled alike on both axes into [-1, 1].

export function placePoints(values, columns) {
  const count = values.length / columns;
  const second = columns > 1 ? 1 : 0;
  let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
  const placeOf = new Int32Array(count).fill(-1);
  let drawn = 0;
  // Plain loops: a million points take milliseconds.
  for (let row = 0; row < count; row++) {
    const x = values[row * columns];
    const y = values[row * columns + second];
    if (x !== x) continue;
    placeOf[row] = drawn++;
    if (x < left) left = x;
    if (x > right) right = x;
    if (y < bottom) bottom = y;
    if (y > top) top = y;
  }
  const center = [(left + right) / 2, (bottom + top) / 2];
  const reach = Math.max(right - left, top - bottom, 1e-30) / 2 / 0.92;
  const toScreen = (x, y) => [(x - center[0]) / reach, (y - center[1]) / reach];
  const [x, y, rows] = [new Float32Array(drawn), new Float32Array(drawn), new Uint32Array(drawn)];
  for (let row = 0; row < count; row++) {
    const place = placeOf[row];
    if (place < 0) continue;
    rows[place] = row;
    x[place] = (values[row * columns] - center[0]) / reach;
    y[place] = columns > 1 ? (values[row * columns + 1] - center[1]) / reach : jitter(row);
  }
  return { x, y, rows, placeOf, toScreen, reach, center };
}

// One coordinate is drawn as a strip in which points lie beside each other.
function jitter(row) {
  return (((row * 2654435761) % 4096) / 4096 - 0.5) * 0.5;
}

// Places of the points inside a polygon; those outside its box are passed over at once.
export function lassoed(polygon, { x, y }) {
  const [xs, ys] = [polygon.map(([each]) => each), polygon.map(([, each]) => each)];
  const [left, right, bottom, top] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const chosen = [];
  for (let at = 0; at < x.length; at++) {
    if (x[at] < left || x[at] > right || y[at] < bottom || y[at] > top) continue;
    if (inside(polygon, x[at], y[at])) chosen.push(at);
  }
  return Uint32Array.from(chosen);
}

function inside(polygon, x, y) {
  let within = false;
  for (let at = 0, before = polygon.length - 1; at < polygon.length; before = at++) {
    const [ax, ay] = polygon[at];
    const [bx, by] = polygon[before];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) within = !within;
  }
  return within;
}
