// Jobs of the server: a list with progress, and promises for their ends.
import * as api from "./api.js";
import { forget } from "./arrays.js";
import { duration, make, replace } from "./dom.js";
import { showError } from "./notices.js";
import { MOST_MAPS, state, subscribe, update } from "./state.js";

const ENDED = ["done", "failed", "cancelled"];
const waiting = new Map();

export function whenEnded(id) {
  return new Promise((resolve, reject) => {
    const known = state.jobs.find((job) => job.id === id);
    if (known && ENDED.includes(known.state)) settle(known, { resolve, reject });
    else waiting.set(id, [...(waiting.get(id) ?? []), { resolve, reject }]);
  });
}

function settle(job, { resolve, reject }) {
  if (job.state === "done") resolve(job);
  else reject(new Error(job.state === "cancelled" ? "cancelled" : job.error));
}

export async function receiveJobs(jobs) {
  const ended = jobs.filter((job) => ENDED.includes(job.state));
  const before = new Map(state.jobs.map((job) => [job.id, job.state]));
  const fresh = ended.filter((job) => before.get(job.id) !== job.state);
  if (fresh.some((job) => job.embedding)) await refreshEmbeddings(fresh);
  update({ jobs });
  for (const job of ended) {
    for (const each of waiting.get(job.id) ?? []) settle(job, each);
    waiting.delete(job.id);
  }
}

// A finished fit is shown on the page, wherever it was started.
export async function refreshEmbeddings(fresh = []) {
  const all = await api.get("embeddings");
  const embeddings = new Map(all.map((each) => [each.id, each]));
  const mine = (id) => embeddings.get(id)?.facts && embeddings.get(id).table === state.table?.id;
  const fitted = fresh.filter((job) => job.task === "fit" && job.state === "done").map((job) => job.embedding);
  const shown = [...state.shown.filter(mine), ...fitted.filter((id) => mine(id) && !state.shown.includes(id))];
  const current = fitted.filter(mine).at(-1) ?? (mine(state.current) ? state.current : (shown[0] ?? null));
  update({ embeddings, shown: shown.slice(-MOST_MAPS), current });
}

const tasks = new Map();

// Starts a measurement once, whoever asks for it.
export function runTask(embedding, task) {
  const key = `${embedding.id}/${task}`;
  if (!tasks.has(key)) {
    const run = api
      .post(`embeddings/${embedding.id}/tasks/${task}`)
      .then((job) => whenEnded(job.id))
      .then(() => forget(`embeddings/${embedding.id}/`));
    run.catch(() => tasks.delete(key));
    tasks.set(key, run);
  }
  return tasks.get(key);
}

export function jobList() {
  const list = make("ul", { class: "jobs", "aria-live": "polite" });
  const items = new Map();
  subscribe(["jobs"], () => {
    const open = state.jobs.filter((job) => !ENDED.includes(job.state));
    const failed = state.jobs.filter((job) => job.state === "failed" && job.task === "fit").slice(-1);
    const shown = [...open, ...failed];
    for (const id of items.keys()) if (!shown.some((job) => job.id === id && !failed.includes(job))) items.delete(id);
    for (const job of open) {
      if (!items.has(job.id)) items.set(job.id, runningItem(job));
      items.get(job.id).show(job);
    }
    const elements = [...open.map(({ id }) => items.get(id).element), ...failed.map(failure)];
    const same = elements.length === list.children.length && open.every(({ id }, place) => list.children[place] === items.get(id).element);
    if (!same || failed.length) replace(list, elements);
    list.hidden = !elements.length;
  });
  return list;
}

// One element as long as the job runs: a button that is made anew ten times a second loses clicks.
function runningItem(job) {
  const progress = make("progress", { max: 1 });
  const status = make("span", { class: "quiet" });
  const stop = make("button", { class: "small", onclick: () => cancel(job, stop) }, "Cancel");
  const element = make("li", {}, make("span", { class: "job-title" }, job.title), progress, status, stop);
  const show = ({ state: now, stage, share, left }) => {
    const waits = now === "queued";
    if (waits || !stage) progress.removeAttribute("value");
    else progress.value = share;
    const doing = waits ? "waiting" : share > 0 ? `${stage} ${Math.round(100 * share)} %` : stage || "starting";
    status.textContent = doing + (left > 1 ? `, ${duration(left)} left` : "");
  };
  return { element, show };
}

function failure(job) {
  return make("li", { class: "failed", role: "alert" }, make("strong", {}, `${job.title}: `), job.error);
}

async function cancel(job, button) {
  button.disabled = true;
  try {
    const ended = await api.remove(`jobs/${job.id}`);
    await receiveJobs(state.jobs.map((each) => (each.id === ended.id ? ended : each)));
  } catch (error) {
    button.disabled = false;
    showError(error);
  }
}
