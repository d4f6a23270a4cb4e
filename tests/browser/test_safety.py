"""Names with markup, scripts, quotes and right-to-left text are shown as text and never run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kane.api.robot import load
from kane.report import Options, build_report, render

NAMES = (
    "</script><script>window.hit=1</script>",
    "\"><img src=x onerror=\"window.hit=2\">",
    "<svg onload='window.hit=3'>",
    "{{ 7*7 }}{% raw %}",
    "\u202eמפרק\u202c",
    "__proto__",
    "a'b\\\"`${window.hit=4}`",
)


@pytest.fixture(scope="module")
def hostile(show, tmp_path_factory):
    m = load("scara").mechanism
    joints, links = [], {link.name: link.name for link in m.links}
    for k, joint in enumerate(m.joints):
        links[joint.child] = NAMES[k % len(NAMES)] + str(k)
    for k, joint in enumerate(m.joints):
        name, ends = NAMES[(k + 3) % len(NAMES)], {"parent": links[joint.parent], "child": links[joint.child]}
        joints.append(replace(joint, name=name, coordinates=(name,), speeds=(name,), **ends))
    renamed = replace(
        m, name=NAMES[0], joints=tuple(joints), links=tuple(replace(x, name=links[x.name]) for x in m.links),
        frames=tuple(replace(x, link=links[x.link]) for x in m.frames),
    )  # fmt: skip
    path = tmp_path_factory.mktemp("hostile") / "page.html"
    path.write_text(render(build_report(renamed, Options(tolerances=(), targets=("c", "numpy")))), encoding="utf-8")
    return renamed, show(path.as_uri())


def test_names_are_text(hostile):
    m, page = hostile
    page.run("() => document.querySelectorAll('details').forEach((d) => { d.open = true; kane.open(d); })")
    page.run("() => document.querySelectorAll('[role=tab]').forEach((t) => t.click())")
    page.page.wait_for_timeout(200)
    assert page.run("() => window.hit === undefined")
    assert page.run("() => document.querySelectorAll('img, svg, iframe, object, embed').length") == 0
    assert page.complaints == [] and len(page.requests) == 1
    text = page.run("() => document.querySelector('#robot').textContent")
    assert all(link.name in text for link in m.links)
    assert page.run("() => document.querySelector('h1').textContent") == m.name
    labels = page.run("() => [...document.querySelectorAll('#sliders label')].map((x) => x.textContent)")
    assert labels == [j.name for j in m.joints if j.type != "fixed"]


def test_right_to_left_names_stay_within_themselves(hostile):
    _, page = hostile
    assert page.run("() => [...document.querySelectorAll('#sliders label > *')].every((x) => x.localName === 'bdi')")


def test_the_policy_lets_no_other_script_run(hostile):
    _, page = hostile
    page.run(
        "() => { const s = document.createElement('script'); s.textContent = 'window.hit = 9';"
        " document.body.append(s); }"
    )
    assert page.run("() => window.hit === undefined")
    page.complaints.clear()
