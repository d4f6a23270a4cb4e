"""The served page in the browser: a changed parameter and another robot give new equations and counts, in place."""

from __future__ import annotations

import threading
from fractions import Fraction

import pytest

from kane.api.robot import load
from kane.equations.derive import derive_task
from kane.explicit.abbreviate import abbreviate
from kane.explicit.model import explicit_model
from kane.explicit.ranges import assumed_ranges
from kane.report import Server, Service
from kane.report.serve import with_values


@pytest.fixture(scope="module")
def server():
    with Server(Service("puma560", ("puma560", "scara", "two_link"), lambda name: load(name).mechanism)) as made:
        threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield made
        made.shutdown()


def total(page):
    text = page.run("() => document.querySelector('#counts .ours .total').textContent")
    return int(text)


def until(page, *states):
    """Wait until the page says that it is so far."""
    wanted = " || ".join(f"document.body.dataset.live === '{s}'" for s in states)
    page.page.wait_for_function(f"() => {wanted}", timeout=60_000)


def test_parameters_and_robots_are_changed(show, server):
    page = show(server.url)
    before = total(page)
    page.run("() => { document.querySelector('#live details').open = true; window.same = true; }")
    page.run("() => kane.setCoordinates({ q2: 0.25 }, null)")
    length = lambda: page.run("() => Math.hypot(...[0, 1, 2].map((i) => kane.pose('link6')[i][3]))")
    reach = length()
    field = page.page.get_by_label("d3", exact=True)
    field.fill("0")
    field.press("Enter")
    until(page, "first", "done")
    assert page.run("() => window.same")  # no other page was loaded
    assert total(page) < before
    m = with_values(load("puma560").mechanism, {"d3": Fraction(0)})
    assert total(page) == derive_task(m, "inverse_dynamics").program.counts.total
    assert page.page.get_by_label("d3", exact=True).input_value() == "0"
    assert "p.d3=0" in page.run("() => location.search")
    until(page, "done")
    assert page.run("() => kane.coordinates().q2") == 0.25 and length() != reach
    page.page.locator("#live-robot").select_option("scara")
    until(page, "first", "done")
    assert page.run("() => document.querySelector('h1').textContent") == "scara"
    assert page.run("() => kane.data.explicit.coordinates.length") == 4
    until(page, "done")
    assert page.run("() => document.querySelectorAll('#sliders input').length") == 4
    assert page.run("() => document.querySelectorAll('.waiting, [aria-busy]').length") == 0
    ids = page.run("() => [...document.querySelectorAll('main > section')].map((x) => x.id)")
    assert {"steps", "explicit", "equations", "motion", "maps", "base", "code", "counts"} <= set(ids)
    assert all(r.startswith(server.url) for r in page.requests)
    assert page.complaints == []
    page.page.close()


def test_levels_are_worked_out_when_asked_for(show, server):
    page = show(server.url + "?robot=two_link")
    until(page, "done")
    page.page.locator("#work-out-levels").click()
    page.page.wait_for_selector("#level", timeout=60_000)
    model = explicit_model(load("two_link").mechanism)
    ranges, made_up = assumed_ranges(model)
    assert made_up in page.page.locator("#explicit").text_content()
    for k, tolerance in enumerate((0.001, 0.01, 0.05), 1):
        expected = abbreviate(model, tolerance, ranges=ranges).counts.as_dict()
        page.run("(k) => kane.setLevel(k)", k)
        assert page.run("() => kane.explicit.counts()") == expected
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
    assert "is no number" in page.page.locator("#live-note").text_content()
    assert not any("drop" in r for r in page.requests)
    page.page.close()
