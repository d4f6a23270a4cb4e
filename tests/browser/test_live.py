"""The served page in the browser: a changed parameter and another robot give new equations and counts."""

from __future__ import annotations

import threading

import pytest

from kane.api.robot import load
from kane.report import Server, Service


@pytest.fixture(scope="module")
def server():
    with Server(Service("puma560", ("puma560", "scara"), lambda name: load(name).mechanism)) as made:
        threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield made
        made.shutdown()


def total(page):
    text = page.run("() => document.querySelector('#counts .ours .total').textContent")
    return int(text)


def test_parameters_and_robots_are_changed(show, server):
    page = show(server.url)
    before = total(page)
    page.run("() => { document.querySelector('#live details').open = true; }")
    field = page.page.get_by_label("d3", exact=True)
    field.fill("0")
    with page.page.expect_navigation():
        field.press("Enter")
    page.run("kane.ready.then(() => null)")
    assert total(page) < before
    assert page.page.get_by_label("d3", exact=True).input_value() == "0"
    with page.page.expect_navigation():
        page.page.locator("#live-robot").select_option("scara")
    page.run("kane.ready.then(() => null)")
    assert page.run("() => document.querySelector('h1').textContent") == "scara"
    assert all(r.startswith(server.url) for r in page.requests)
    assert page.complaints == []
    page.page.close()


def test_text_that_is_no_number_is_not_sent(show, server):
    page = show(server.url + "?robot=scara")
    page.run("() => { document.querySelector('#live details').open = true; }")
    field = page.page.locator("#live-parameters input").first
    field.fill("1;drop")
    field.press("Enter")
    page.page.wait_for_timeout(100)
    assert field.get_attribute("aria-invalid") == "true"
    assert len([r for r in page.requests if r.startswith(server.url)]) == 1
    page.page.close()
