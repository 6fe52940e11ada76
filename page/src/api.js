// Requests to the server: JSON for words, arrays of numbers as they are.

export class Refused extends Error {
  constructor(sentence, status) {
    super(sentence);
    this.status = status;
  }
}

let onLost = () => {};
export function whenLost(callback) {
  onLost = callback;
}

async function ask(method, path, body, type) {
  let answer;
  try {
    answer = await fetch(`/api/${path}`, {
      method,
      body,
      headers: type ? { "content-type": type } : {},
      credentials: "same-origin",
    });
  } catch (error) {
    onLost();
    throw new Refused("The server does not answer.", 0);
  }
  if (!answer.ok) {
    const said = await answer.json().catch(() => ({}));
    throw new Refused(said.error ?? `The server answered ${answer.status}.`, answer.status);
  }
  return answer;
}

export const get = async (path) => (await ask("GET", path)).json();
export const remove = async (path) => (await ask("DELETE", path)).json();
export const post = async (path, value = {}) =>
  (await ask("POST", path, JSON.stringify(value), "application/json")).json();

// Row numbers go as uint32.
export const postRows = (path, rows) =>
  ask("POST", path, Uint32Array.from(rows).buffer, "application/octet-stream");

export const upload = async (path, file) =>
  (await ask("POST", `${path}?name=${encodeURIComponent(file.name)}`, file, "application/octet-stream")).json();

export async function floats(path) {
  const answer = await ask("GET", path);
  const columns = Number(answer.headers.get("x-columns") ?? 1);
  return { values: new Float32Array(await answer.arrayBuffer()), columns };
}

export async function integers(path) {
  return new Uint32Array(await (await ask("GET", path)).arrayBuffer());
}

export const text = async (path) => (await ask("GET", path)).text();

// The token comes in the fragment, which is never sent, and goes as soon as the cookie is there.
export async function startSession() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token) {
    history.replaceState(null, "", location.pathname + location.search);
    await post("session", { token });
  }
}

// A page that is not seen gives up its stream after so many milliseconds: browsers open six
// connections to a server, and as many streams would leave none for a seventh page.
const UNSEEN = 20_000;

// Calls back with all jobs whenever they change; reconnects by itself.
export function watchJobs(callback, onState) {
  let events = null;
  let leaving = null;
  const connect = () => {
    events = new EventSource("/api/events");
    events.onmessage = (event) => {
      onState(true);
      callback(JSON.parse(event.data));
    };
    events.onerror = () => onState(false);
  };
  const leave = () => {
    events?.close();
    events = null;
  };
  document.addEventListener("visibilitychange", () => {
    clearTimeout(leaving);
    if (document.hidden) leaving = setTimeout(leave, UNSEEN);
    else if (!events) connect();
  });
  connect();
}
