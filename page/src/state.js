// One state for the page; parts subscribe to the names they show.

const listeners = new Map();

export const state = {
  files: [],
  table: null, // {id, name, facts}
  reading: null, // roles and preparation, as the server takes them
  methods: [],
  advice: null,
  jobs: [],
  embeddings: new Map(), // by id, as the server describes them
  shown: [], // ids of the maps on the page, at most MOST_MAPS
  current: null, // id of the map that the panel is about
  color: { kind: "column", column: null },
  selection: null, // Uint32Array of rows, or null
  hovered: -1,
  picked: -1,
  links: null, // {row, data, map}: the picked row and its neighbours in the data and on the map
  mode: "pan",
  tab: "quality",
};

export const MOST_MAPS = 6;

export function subscribe(names, callback) {
  for (const name of names) {
    if (!listeners.has(name)) listeners.set(name, new Set());
    listeners.get(name).add(callback);
  }
}

export function update(changes) {
  const called = new Set();
  for (const [name, value] of Object.entries(changes)) {
    state[name] = value;
    for (const callback of listeners.get(name) ?? []) called.add(callback);
  }
  for (const callback of called) callback(state);
}

export const shownMaps = () =>
  state.shown.map((id) => state.embeddings.get(id)).filter((each) => each?.facts);

export const currentMap = () => state.embeddings.get(state.current) ?? null;
