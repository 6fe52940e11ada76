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
  subscribe(["jobs"], () => {
    const open = state.jobs.filter((job) => !ENDED.includes(job.state));
    const failed = state.jobs.filter((job) => job.state === "failed" && job.task === "fit").slice(-1);
    replace(list, open.map(running), failed.map(failure));
    list.hidden = !open.length && !failed.length;
  });
  return list;
}

function running(job) {
  const waits = job.state === "queued";
  const doing = waits ? "waiting" : `${job.stage || "starting"} ${Math.round(100 * job.share)} %`;
  const left = job.left > 1 ? `, ${duration(job.left)} left` : "";
  return make(
    "li",
    {},
    make("span", { class: "job-title" }, job.title),
    make("progress", waits || !job.stage ? { max: 1 } : { max: 1, value: job.share }),
    make("span", { class: "quiet" }, doing + left),
    make("button", { class: "small", onclick: () => cancel(job) }, "Cancel"),
  );
}

function failure(job) {
  return make("li", { class: "failed", role: "alert" }, make("strong", {}, `${job.title}: `), job.error);
}

async function cancel(job) {
  try {
    await api.remove(`jobs/${job.id}`);
  } catch (error) {
    showError(error);
  }
}
