// Arrays of the server, each fetched once.
import * as api from "./api.js";
import { state } from "./state.js";

const cache = new Map();

export function fetchFloats(path) {
  if (!cache.has(path)) {
    const promise = api.floats(path);
    promise.catch(() => cache.delete(path));
    cache.set(path, promise);
  }
  return cache.get(path);
}

export function forget(prefix) {
  for (const path of cache.keys()) if (path.startsWith(prefix)) cache.delete(path);
}

export const column = (table, place) => fetchFloats(`tables/${table.id}/columns/${place}`);
export const array = (id, name) => fetchFloats(`embeddings/${id}/${name}`);

export function columnPlace(name) {
  return state.table.facts.columns.findIndex((each) => each.name === name);
}
