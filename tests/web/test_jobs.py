"""The life of a job: progress, queue, cancellation by killing, and death of its process."""

import os
import signal
import time

import pytest

from unbend.web.jobs import QUEUE, SECONDS_BETWEEN, FullQueue, Job, Jobs


def wait_for(condition, seconds=300):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture(scope="module")
def jobs():
    made = Jobs("tests.web.tasks")
    yield made
    made.close()


def ended(job):
    return job.state in ("done", "failed", "cancelled")


def test_a_job_runs_in_another_process_and_returns_its_result(jobs):
    job = jobs.submit(Job("own_process", {}, ""))
    wait_for(lambda: ended(job))
    assert job.state == "done"
    assert job.result not in (None, os.getpid())
    assert job.to_dict()["share"] == 1.0


def test_an_error_is_one_sentence(jobs):
    job = jobs.submit(Job("fail", {"sentence": "no\nsuch  column"}, ""))
    wait_for(lambda: ended(job))
    assert (job.state, job.error) == ("failed", "no such column")


def test_progress_arrives_at_most_ten_times_a_second(jobs):
    job, seen = Job("count", {"steps": 2000, "seconds": 0.5}, ""), []
    jobs.submit(job)

    def watch():
        share = job.share
        if job.state == "running" and share and (not seen or share != seen[-1][0]):
            seen.append((share, time.monotonic()))
        return ended(job)

    wait_for(watch)
    assert job.state == "done"
    assert [share for share, _ in seen] == sorted(share for share, _ in seen)
    assert 2 <= len(seen) <= job.seconds / SECONDS_BETWEEN + 2
    assert job.stage == "counting"


def test_a_running_job_is_gone_within_two_seconds_and_the_next_starts(jobs):
    """The task holds the interpreter in C and never looks for interrupts."""
    first = jobs.submit(Job("block", {}, ""))
    second = jobs.submit(Job("own_process", {}, ""))
    wait_for(lambda: first.state == "running")
    time.sleep(0.3)
    began = time.monotonic()
    jobs.cancel(first)
    assert time.monotonic() - began < 2
    assert first.state == "cancelled"
    wait_for(lambda: ended(second))
    assert second.state == "done"


def test_a_waiting_job_is_cancelled_without_running(jobs, tmp_path):
    first = jobs.submit(Job("block", {}, ""))
    second = jobs.submit(Job("touch", {"path": str(tmp_path / "ran")}, ""))
    jobs.cancel(second)
    jobs.cancel(first)
    third = jobs.submit(Job("own_process", {}, ""))
    wait_for(lambda: ended(third))
    assert second.state == "cancelled"
    assert not (tmp_path / "ran").exists()


def test_the_queue_holds_five(jobs):
    running = jobs.submit(Job("block", {}, ""))
    wait_for(lambda: running.state == "running")
    waiting = [jobs.submit(Job("own_process", {}, "")) for _ in range(QUEUE)]
    refused = Job("own_process", {}, "")
    with pytest.raises(FullQueue, match="5 jobs are waiting already: cancel one"):
        jobs.submit(refused)
    assert jobs.find(refused.id) is None
    jobs.cancel(running)
    wait_for(lambda: all(map(ended, waiting)))
    assert [job.state for job in waiting] == ["done"] * QUEUE


def test_optional_jobs_wait_behind_others_and_a_full_queue_does_without_them(jobs):
    running = jobs.submit(Job("block", {}, ""))
    wait_for(lambda: running.state == "running")
    advice = [jobs.submit(Job("own_process", {}, "", optional=True)) for _ in range(QUEUE)]
    asked = jobs.submit(Job("own_process", {}, ""))
    assert [job.state for job in advice] == ["cancelled", *["queued"] * (QUEUE - 1)]
    jobs.cancel(running)
    wait_for(lambda: all(map(ended, [asked, *advice])))
    assert asked.state == "done"
    assert all(job.state == "done" and asked.began < job.began for job in advice[1:])


def test_a_process_that_dies_fails_its_job_only(jobs):
    job = jobs.submit(Job("die", {"signal": int(signal.SIGKILL)}, ""))
    wait_for(lambda: ended(job))
    assert job.state == "failed"
    assert "more memory" in job.error
    after = jobs.submit(Job("own_process", {}, ""))
    wait_for(lambda: ended(after))
    assert after.state == "done"


def test_lanes_do_not_wait_for_each_other(jobs):
    fit = jobs.submit(Job("block", {}, ""), "fit")
    look = jobs.submit(Job("own_process", {}, ""), "look")
    wait_for(lambda: ended(look))
    assert fit.state == "running"
    jobs.cancel(fit)
