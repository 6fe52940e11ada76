"""Jobs in child processes: one at a time in each lane, queued, watched and cancelled.

LAPACK does not look for interrupts, so a job is cancelled by killing its process.
"""

import multiprocessing
import os
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

QUEUE = 5
# Progress reaches browsers at most this often.
SECONDS_BETWEEN = 0.1
# Jobs whose results are remembered.
MOST_FINISHED = 200
FAILED = ("failed", "cancelled")
ENDED = ("done", *FAILED)

Task = Callable[..., Any]
Finish = Callable[["Job"], None]


class FullQueue(RuntimeError):
    """More jobs than the queue holds."""


@dataclass
class Job:
    """A task with its state: queued, running, done, failed or cancelled."""

    task: str
    arguments: dict[str, Any]
    title: str
    about: dict[str, Any] = field(default_factory=dict)
    # Whether others go before it, and a full queue does without it.
    optional: bool = False
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    state: str = "queued"
    stage: str = ""
    share: float = 0.0
    left: float | None = None
    began: float | None = None
    seconds: float = 0.0
    error: str = ""
    result: Any = None

    def to_dict(self) -> dict[str, Any]:
        """Return what browsers show of it."""
        running = self.state == "running" and self.began is not None
        return {
            "id": self.id,
            "task": self.task,
            "title": self.title,
            **self.about,
            "state": self.state,
            "stage": self.stage,
            "share": self.share,
            "left": self.left,
            "seconds": time.monotonic() - (self.began or 0.0) if running else self.seconds,
            "error": self.error,
        }


class Worker:
    """A child process that runs one task after the other."""

    def __init__(self, tasks: str) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=work, args=(theirs, tasks), daemon=True)
        self._process.start()
        theirs.close()

    def start(self, job: Job) -> None:
        """Send a job."""
        self._pipe.send((job.task, job.arguments))

    def receive(self, seconds: float) -> tuple[str, Any] | None:
        """Return the next message, or None if none came in time; raise EOFError if it died."""
        try:
            return self._pipe.recv() if self._pipe.poll(seconds) else None
        except OSError as error:
            raise EOFError from error

    @property
    def alive(self) -> bool:
        """Whether the process lives."""
        return self._process.is_alive()

    def kill(self) -> None:
        """End the process at once.

        The pipe is closed with the last reference to it: another thread may be reading it, and the
        system could give its number to a new connection.
        """
        self._process.kill()
        self._process.join()


class Lane:
    """A queue whose jobs run one at a time in one worker.

    `on_done` is called with a finished job before its state is seen.
    """

    def __init__(self, tasks: str, on_change: Callable[[], None], queue: int = QUEUE) -> None:
        self._tasks, self._on_change, self._queue = tasks, on_change, queue
        self._changed = threading.Condition()
        self._waiting: list[tuple[Job, Finish | None]] = []
        self._running: Job | None = None
        self._worker: Worker | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def submit(self, job: Job, on_done: Finish | None = None) -> None:
        """Queue a job."""
        with self._changed:
            if len(self._waiting) >= self._queue:
                self._make_room()
            self._waiting.append((job, on_done))
            # The order of the others stays.
            self._waiting.sort(key=lambda pair: pair[0].optional)
            self._changed.notify_all()
        self._on_change()

    def _make_room(self) -> None:
        spare = next((pair for pair in self._waiting if pair[0].optional), None)
        if spare is None:
            raise FullQueue(
                f"{self._queue} jobs are waiting already: cancel one, or wait until one ends"
            )
        self._waiting.remove(spare)
        spare[0].state = "cancelled"

    def cancel(self, job: Job) -> None:
        """Cancel a job, waiting or running."""
        with self._changed:
            self._waiting = [pair for pair in self._waiting if pair[0] is not job]
            if job.state in ENDED:
                return
            job.state = "cancelled"
            if self._running is job and self._worker is not None:
                self._worker.kill()
                self._worker = None
        self._on_change()

    def close(self) -> None:
        """End the worker; nothing runs afterwards."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            if self._worker is not None:
                self._worker.kill()
                self._worker = None
            self._changed.notify_all()
        self._thread.join(timeout=2)

    def _serve(self) -> None:
        while True:
            with self._changed:
                if self._worker is None and not self._closed:
                    # Started before it is needed: importing the library takes a second.
                    self._worker = Worker(self._tasks)
                while not self._waiting and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return
                if self._worker is not None and not self._worker.alive:
                    # It ended while it had nothing to do, as when memory ran out elsewhere.
                    self._worker = Worker(self._tasks)
                job, on_done = self._waiting.pop(0)
                self._running, worker = job, self._worker
                job.state, job.began = "running", time.monotonic()
            self._on_change()
            if worker is not None:
                self._follow(job, worker, on_done)
            with self._changed:
                self._running = None
            self._on_change()

    def _follow(self, job: Job, worker: Worker, on_done: Finish | None) -> None:
        """Read messages of the worker until the job has ended."""
        try:
            worker.start(job)
            while job.state == "running":
                message = worker.receive(SECONDS_BETWEEN)
                if message is None:
                    continue
                kind, content = message
                if kind == "progress":
                    job.stage, job.share, job.left = content
                    self._on_change()
                else:
                    self._end(job, kind, content, on_done)
        except (EOFError, OSError):
            # It was killed: by us, or by a system that ran out of memory.
            self._end(job, "failed", "the computation was ended: it may need more memory", None)
            with self._changed:
                if self._worker is worker:
                    worker.kill()
                    self._worker = None

    def _end(self, job: Job, kind: str, content: Any, on_done: Finish | None) -> None:
        with self._changed:
            if job.state != "running":
                return
            job.seconds = time.monotonic() - (job.began or 0.0)
            if kind == "done":
                job.result, job.share = content, 1.0
                if on_done is not None:
                    on_done(job)
            else:
                job.error = str(content)
            job.state = kind


class Jobs:
    """All jobs, in two lanes: fits take long, and looking at a table must not wait for them."""

    def __init__(self, tasks: str = "unbend.web.tasks") -> None:
        self.version = 0
        self._lanes = {name: Lane(tasks, self._change) for name in ("fit", "look")}
        self._jobs: dict[str, tuple[Job, Lane]] = {}

    def _change(self) -> None:
        self.version += 1

    def submit(self, job: Job, lane: str = "look", on_done: Finish | None = None) -> Job:
        """Queue a job."""
        self._lanes[lane].submit(job, on_done)
        self._jobs[job.id] = job, self._lanes[lane]
        ended = [id for id, (each, _) in self._jobs.items() if each.state in ENDED]
        for id in ended[: max(0, len(ended) - MOST_FINISHED)]:
            del self._jobs[id]
        return job

    def find(self, id: str) -> Job | None:
        """Find a job."""
        pair = self._jobs.get(id)
        return None if pair is None else pair[0]

    def cancel(self, job: Job) -> None:
        """Cancel a job."""
        self._jobs[job.id][1].cancel(job)

    def all(self) -> list[Job]:
        """Return all jobs, oldest first."""
        return [job for job, _ in list(self._jobs.values())]

    def unfinished(self) -> list[Job]:
        """Return the jobs that wait or run."""
        return [job for job in self.all() if job.state not in ENDED]

    def to_list(self) -> list[dict[str, Any]]:
        """Return all jobs as browsers show them, oldest first."""
        return [job.to_dict() for job in self.all()]

    def close(self) -> None:
        """End all workers."""
        for lane in self._lanes.values():
            lane.close()


def work(pipe: Connection, tasks: str) -> None:
    """Run tasks of a module as they come; what a worker process does."""
    import signal
    from importlib import import_module

    # Ctrl-C in the terminal reaches the whole group; the server ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    module = import_module(tasks)
    while True:
        try:
            name, arguments = pipe.recv()
        except (EOFError, OSError):
            return
        _run(pipe, getattr(module, name), arguments)


def _run(pipe: Connection, task: Task, arguments: dict[str, Any]) -> None:
    from unbend.progress import Pace, Progress, monitoring

    pace, sent = Pace(), float("-inf")

    def report(progress: Progress) -> None:
        nonlocal sent
        status, now = pace(progress), time.monotonic()
        if now - sent >= SECONDS_BETWEEN:
            sent = now
            pipe.send(("progress", (status.stage, status.share, status.left)))

    try:
        with monitoring(report):
            result = task(**arguments)
        pipe.send(("done", result))
    except Exception as error:
        pipe.send(("failed", describe_error(error)))


def describe_error(error: Exception) -> str:
    """Return an error as one sentence."""
    # Names of files may be in another encoding than UTF-8, which no browser could be sent.
    sentence = " ".join(str(error).encode(errors="replace").decode().split())
    if isinstance(error, MemoryError) and not sentence:
        return "there is not enough memory: take fewer rows, or a method that keeps less"
    if isinstance(error, ValueError | TypeError | MemoryError | ImportError | OSError):
        return sentence
    return f"unbend failed in a way it should not ({type(error).__name__}: {sentence})"


def _end_with_parent() -> None:
    """End this process when the server does, however that ends."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
