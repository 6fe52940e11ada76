// What the points of a map are coloured by: a column, or what the map lost at each of them.
import { array, column, columnPlace } from "./arrays.js";
import { colorClasses, colorPlain, colorValues, rangeOf } from "./colors.js";
import { runTask } from "./jobs.js";
import { shownMaps, state } from "./state.js";

export const LOSSES = {
  trustworthiness: {
    title: "False neighbours",
    scale: "Trustworthiness of each point: low where its neighbours on the map are no neighbours in the data",
    task: "measure",
    good: 1,
  },
  continuity: {
    title: "Missing neighbours",
    scale: "Continuity of each point: low where its neighbours in the data are far away on the map",
    task: "measure",
    good: 1,
  },
  stability: {
    title: "Instability",
    scale: "How far a point moves when the map is fitted to other samples, in radii of the map; ellipses hold a point in 95 % of samples",
    task: "measure_stability",
    good: 0,
  },
};

// Words with too many different values have no colours; their codes are no numbers to show.
export const canColor = (facts) => !facts.words || Boolean(facts.levels);

export async function coloringOf(embedding) {
  const { color, table } = state;
  if (color.kind === "loss") return colorLoss(embedding, color.name);
  const place = color.column === null ? -1 : columnPlace(color.column);
  if (place < 0) return colorPlain(table.facts.rows);
  const facts = table.facts.columns[place];
  const { values } = await column(table, place);
  if (!canColor(facts)) return colorPlain(table.facts.rows);
  if (facts.words) return colorClasses(values, facts.levels);
  const levels = facts.date ? null : integerLevels(values);
  if (levels) return colorClasses(Float32Array.from(values, (v) => levels.codes.get(v) ?? NaN), levels.names);
  return { ...colorValues(values, facts.name), date: facts.date };
}

// A few integers are classes, as digits are.
function integerLevels(values) {
  const seen = new Set();
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    if (!Number.isInteger(value)) return null;
    seen.add(value);
    if (seen.size > 12) return null;
  }
  const sorted = [...seen].sort((first, second) => first - second);
  return { codes: new Map(sorted.map((value, code) => [value, code])), names: sorted.map(String) };
}

// All maps share one scale, so that their colours can be compared.
async function colorLoss(embedding, name) {
  const loss = LOSSES[name];
  const all = await Promise.all(
    shownMaps().map(async (each) => {
      if (!each.arrays.includes(name)) await runTask(each, loss.task);
      return [each.id, (await array(each.id, name)).values];
    }),
  );
  const ranges = all.map(([, values]) => rangeOf(values));
  const low = Math.min(...ranges.map(([each]) => each), loss.good);
  const high = Math.max(...ranges.map(([, each]) => each), loss.good);
  const values = all.find(([id]) => id === embedding.id)[1];
  return colorValues(values, loss.title, [low, high], loss.good === 0);
}
