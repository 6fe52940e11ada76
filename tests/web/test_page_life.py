"""The life of the page: fits that are cancelled, reloads, two tabs, and a server that ends."""

import signal
import time

import pytest

from tests.web.browsing import Visit, needs_browser, serving

pytestmark = [needs_browser, pytest.mark.timeout(600)]


def start_long_fit(visit):
    """Start a fit that takes minutes and return the line that shows it."""
    card = visit.tab.locator("[data-method=mvu]")
    card.locator("> summary").click()
    card.locator("button.primary").click()
    job = visit.tab.locator(".jobs li", has_text="Maximum variance unfolding")
    job.locator("button").wait_for()
    return job


def running(visit):
    jobs = visit.tab.context.request.get(f"{visit.origin}/api/jobs").json()
    return [job for job in jobs if job["state"] == "running" and job["task"] == "fit"]


def wait_until_running(visit):
    while not running(visit):
        visit.tab.wait_for_timeout(50)
    visit.tab.wait_for_timeout(300)


@pytest.mark.slow
def test_a_cancelled_fit_is_gone_in_two_seconds_and_the_next_starts(visit):
    visit.open("long.csv")
    job = start_long_fit(visit)
    wait_until_running(visit)
    began = time.monotonic()
    job.locator("button").click()
    job.wait_for(state="detached")
    assert time.monotonic() - began < 2
    assert running(visit) == []
    assert visit.fit("pca")


@pytest.mark.slow
def test_a_reload_finds_the_fit_that_runs_and_the_maps(visit):
    visit.open("long.csv")
    id = visit.fit("pca")
    start_long_fit(visit)
    wait_until_running(visit)
    (before,) = running(visit)
    visit.tab.reload()
    visit.tab.locator(f".map[data-embedding='{id}'][data-drawn=true]").wait_for()
    job = visit.tab.locator(".jobs li", has_text="Maximum variance unfolding")
    job.wait_for()
    (after,) = running(visit)
    assert after["id"] == before["id"]
    assert after["seconds"] > before["seconds"]
    job.locator("button").click()
    job.wait_for(state="detached")


@pytest.mark.slow
def test_a_fit_ends_on_the_page_that_was_reloaded(visit):
    visit.open("digits.csv")
    card = visit.tab.locator("[data-method=nonmetric_mds]")
    card.locator("> summary").click()
    card.locator("button.primary").click()
    wait_until_running(visit)
    visit.tab.reload()
    visit.tab.locator(".map[data-drawn=true]", has_text="Non-metric").wait_for()


@pytest.mark.slow
def test_two_tabs_show_the_same_maps_and_jobs(visit):
    visit.open("long.csv")
    other = Visit(visit.tab.context, f"{visit.origin}/#")
    other.tab.locator(".card").first.wait_for()
    id = visit.fit("pca")
    other.tab.locator(f".map[data-embedding='{id}'][data-drawn=true]").wait_for()
    job = start_long_fit(other)
    mine = visit.tab.locator(".jobs li", has_text="Maximum variance unfolding")
    mine.locator("button").click()
    job.wait_for(state="detached")
    other.check()


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_the_page_says_that_the_server_has_ended(served, chromium, how):
    with serving(served, "digits.csv") as (address, server):
        visit = Visit(chromium.new_context(), address)
        visit.tab.locator(".card").first.wait_for()
        server.send_signal(how)
        visit.tab.locator("text=The server has ended").wait_for()
