"""Pages of robots and mechanisms, opened from disk in a browser."""

from __future__ import annotations

import numpy as np
import pytest

from kane.equations.derive import derive_task
from kane.graph.evaluate import evaluate
from kane.kinematics.coordinates import find_coordinates
from kane.mechanism.joints import joint_type

ROBOTS = ("puma560", "panda", "two_link", "rp_robot", "four_bar", "floating", "humanoid")
CLOSE = 1e-9


@pytest.mark.parametrize("name", ROBOTS)
def test_the_page_asks_for_nothing_and_complains_of_nothing(view, files, name):
    page = view(name)
    opened = page.run(
        "() => { document.querySelectorAll('details').forEach((d) => { d.open = true; kane.open(d); });"
        " return document.querySelectorAll('details:not([open])').length; }"
    )
    page.page.wait_for_timeout(100)
    assert opened == 0
    assert page.requests == [files(name).as_uri()]
    assert page.complaints == []


@pytest.mark.parametrize("name", ROBOTS)
def test_poses_equal_forward_kinematics(view, mechanisms, name):
    m, page = mechanisms(name), view(name)
    c = find_coordinates(m)
    random = np.random.default_rng(5)
    q = {n: float(x) for n, x in zip(c.names, random.uniform(0.1, 0.6, len(c.names)), strict=True)}
    for names, _ in c.quaternions:
        size = np.sqrt(sum(q[n] ** 2 for n in names))
        q |= {n: q[n] / size for n in names}
    held = dict(list(q.items())[:1]) if m.constraints else q
    page.run("(q) => kane.setCoordinates(q, null)", held)
    now = page.run("() => kane.coordinates()")
    assert all(now[n] == x for n, x in held.items())
    values = {p.name: page_value(p) for p in m.parameters}
    for link in [m.links[-1].name, m.links[len(m.links) // 2].name]:
        made = derive_task(m, "forward_kinematics", link, tuple(values))
        p = np.array([values[n] for n in made.parameters])
        arrays = {"q": np.array([now[n] for n in c.names]), "p": p}
        T = next(iter(evaluate(made.program, {i.name: arrays[i.name] for i in made.program.inputs}).values()))
        assert np.allclose(page.run("(link) => kane.pose(link)", link), T, atol=CLOSE, rtol=0)
        drawn = np.array(page.run("(link) => kane.scene.matrixOf(link)", link)).reshape(4, 4).T
        assert np.allclose(drawn, T, atol=CLOSE, rtol=0)


@pytest.mark.parametrize("name", ROBOTS)
def test_the_whole_robot_is_in_the_picture(view, name):
    """Shapes, ellipsoids and centres of mass too, and not as a speck."""
    fit = "document.getElementById('zoom-fit').click()"  # another test may have moved it
    corners = np.array(view(name).run(f"() => {{ {fit}; return kane.scene.corners(); }}"))[:, :2]
    assert np.abs(corners).max() <= 1
    assert np.ptp(corners, axis=0).max() > 0.5


def page_value(parameter):
    from kane.mechanism.numeric import SomeValues

    return float(parameter.value) if parameter.value is not None else SomeValues()[parameter.name]


def test_a_slider_moves_the_links_beyond_it_only(view, mechanisms):
    page, m = view("puma560"), mechanisms("puma560")
    before = {link.name: page.run("(n) => kane.pose(n)", link.name) for link in m.links}
    slider = page.page.locator("#sliders input").nth(2)
    slider.focus()
    page.page.keyboard.press("ArrowRight")
    after = {link.name: page.run("(n) => kane.pose(n)", link.name) for link in m.links}
    moved = [name for name in before if not np.allclose(before[name], after[name], atol=1e-6)]
    assert moved == ["link3", "link4", "link5", "link6"]
    assert slider.get_attribute("aria-valuetext").endswith("rad")


def test_a_loop_stays_closed(view):
    page = view("four_bar")
    assert page.run("() => kane.closed") is True
    for angle in (0.4, 0.9, 1.6):
        page.run("(x) => kane.setCoordinates({ t1: x }, null)", angle)
        assert page.run("() => kane.coordinates().t1") == pytest.approx(angle)
        assert np.abs(page.run("() => kane.residuals()")).max() < CLOSE


def test_a_motion_is_played_in_the_view(view, mechanisms):
    page = view("puma560")
    page.run("() => document.querySelector('.recording').kaneAt(40)")
    now = page.run("() => kane.coordinates()")
    data = page.run("() => kane.data.motion.recordings[0]")
    assert [now[n] for n in data["names"]] == [row[40] for row in data["q"]]
    page.page.locator(".recording .play").first.click()
    page.page.wait_for_timeout(300)
    page.page.locator(".recording .play").first.click()
    assert page.run("() => kane.coordinates()") != now


def test_the_torque_split_adds_up_to_inverse_dynamics(view, mechanisms):
    page, m = view("puma560"), mechanisms("puma560")
    choices = page.run("() => kane.data.motion.recordings[0].plots[0].choices")
    names = [joint_type(j).coordinates(j)[0] for j in m.joints]
    assert [c["label"] for c in choices] == names
    from kane.report.sections.motion import trajectory

    t, q, qd, qdd = trajectory(m)
    tau = evaluate(derive_task(m, "inverse_dynamics").program, {"q": q, "qd": qd, "qdd": qdd})["tau"]
    for i, choice in enumerate(choices):
        series = dict(choice["series"])
        assert np.allclose(series["total"], tau[:, i], atol=1e-3 * np.abs(tau).max())
        parts = sum(np.array(v) for name, v in series.items() if name != "total")
        assert np.allclose(parts, series["total"], atol=1e-3 * np.abs(tau).max())
    assert len(t) == len(series["total"])


def test_puma560_is_small_and_opens_quickly(view, files):
    assert files("puma560").stat().st_size <= 2_000_000
    script = "() => performance.getEntriesByType('navigation')[0].loadEventEnd"
    assert view("puma560").run(script) < 5_000  # 1 s on a machine that does nothing else


@pytest.mark.parametrize("name", ("puma560", "humanoid"))
def test_narrow_screens_do_not_scroll_sideways(view, name):
    page = view(name)
    page.page.set_viewport_size({"width": 390, "height": 800})
    try:
        assert page.run("() => document.documentElement.scrollWidth") <= 390
    finally:
        page.page.set_viewport_size({"width": 1280, "height": 900})


def test_it_prints(view):
    pdf = view("two_link").page.pdf()
    assert pdf.startswith(b"%PDF") and len(pdf) > 20_000
