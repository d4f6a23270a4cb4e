"""Pages as the command line writes them: self-contained, names of a file as text, in the place that is asked for."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

from kane.api.robot import load
from kane.equations.derive import derive_task
from kane.equations.projection import kane_equations
from kane.equations.steps import work_out
from kane.graph.evaluate import evaluate
from kane.kinematics.coordinates import find_coordinates
from kane.report.sections.poles import poles_at_rest
from kane.report.sections.steps import kane_steps

EVIL = '</script><script>x()</script>&quot;"\'<img src=x onerror=x()>\u202emerger\u202c{{7*7}}'
URDF = """<robot name="{name}"><link name="base"/>
<link name="{name}1"><inertial><mass value="1"/><origin xyz="0 0 0.2"/>
<inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="{name}j" type="revolute"><parent link="base"/><child link="{name}1"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" velocity="2" effort="5"/></joint></robot>"""


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def kane(folder, *words):
    command = [sys.executable, "-m", "kane.cli", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.words, self.titles = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not [a for a, _ in attrs if a.startswith("on")], attrs
        assert all(v is None or not v.startswith(("http", "//")) for a, v in attrs if a in ("src", "href"))

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("work")
    (made / "evil.urdf").write_text(URDF.format(name=escaped(EVIL)), encoding="utf-8")
    return made


def test_report_of_a_file_with_markup_in_its_names(folder):
    result = kane(folder, "report", "evil.urdf", "-o", "page.html")
    assert result.returncode == 0, result.stderr
    page = (folder / "page.html").read_text(encoding="utf-8")
    seen = Tags(page)
    scripts = re.findall(r"<script>", page)
    assert not {"img", "iframe", "object", "embed", "link"} & set(seen.tags)
    assert seen.tags.count("script") == len(scripts) + len(re.findall(r"<script type=\"application/json\"", page))
    assert EVIL + "1" in seen.words and EVIL + "j" in " ".join(seen.words)
    data = json.loads(re.search(r'data-part="scene">(.*?)</script>', page)[1])
    assert [link["name"] for link in data["links"]] == ["base", EVIL + "1"]
    assert "levels" in re.search(r'data-part="explicit">(.*?)</script>', page)[1]
    assert sorted(p.name for p in folder.iterdir()) == ["evil.urdf", "page.html"]


def test_derive_explicit_and_simulate_write_pages(folder, tmp_path):
    cases = (
        ("derive two_link --out derived", "derived/report.html", "Kane"),
        ("explicit puma560 --tolerance 5% --rule paper --out ex", "ex/puma560_explicit.html", "5 %"),
        ("simulate two_link --time 0.2 --q 0.3,0.4 --animate run.html", "run.html", "Simulation"),
    )
    for words, file, said in cases:
        result = kane(tmp_path, *words.split())
        assert result.returncode == 0, (words, result.stderr)
        page = (tmp_path / file).read_text(encoding="utf-8")
        Tags(page)
        assert page.startswith("<!DOCTYPE html>") and said in page
    assert '"Simulation"' in (tmp_path / "run.html").read_text(encoding="utf-8")
    explicit = (tmp_path / "ex/puma560_explicit.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'data-part="explicit">(.*?)</script>', explicit)[1])
    assert [level["tolerance"] for level in data["levels"]] == [0.0, 0.05]


@pytest.mark.parametrize("name", ("two_link", "scara", "stanford"))
def test_poles_at_rest_are_those_of_forward_dynamics(name):
    """Against central differences of forward dynamics under the torques that hold the pose."""
    m = load(name).mechanism
    n = len(find_coordinates(m).names)
    forward, gravity = (derive_task(m, task).program for task in ("forward_dynamics", "gravity_forces"))
    found = poles_at_rest(m)
    from kane.report.sections.motion import coordinate_ranges

    q0 = np.array([min(max(0.0, a), b) for a, b in coordinate_ranges(m)])
    p = {"p": np.array([])}
    tau = next(iter(evaluate(gravity, {"q": q0} | ({} if not gravity.inputs[1:] else p)).values()))

    def rate(x):
        given = {"q": x[:n], "qd": x[n:], "tau": tau}
        qdd = next(iter(evaluate(forward, {i.name: given[i.name] for i in forward.inputs}).values()))
        return np.concatenate([x[n:], qdd])

    x0, h = np.concatenate([q0, np.zeros(n)]), 1e-5
    A = np.stack([(rate(x0 + h * e) - rate(x0 - h * e)) / (2 * h) for e in np.eye(2 * n)], axis=1)
    damping = [float(j.damping) for j in m.joints]
    assert not any(damping)
    ours = np.array([complex(*pair) for pair in found.data["poles"]])
    assert len(ours) == 2 * n
    powers = lambda values: np.array([np.sum(values**k) for k in range(1, 2 * n + 1)])  # whatever their order
    assert np.allclose(powers(ours), powers(np.linalg.eigvals(A)), rtol=1e-5, atol=1e-4)


def test_the_page_beside_the_code_shows_the_same_programs(tmp_path):
    """Counts printed, counts on the page, code in files and code on the page are those of the searched programs."""
    result = kane(tmp_path, "derive", "scara", "--out", "made", "--json")
    counted = json.loads(result.stdout)["counts"]
    page = (tmp_path / "made" / "report.html").read_text(encoding="utf-8")
    for task, c in counted.items():
        assert f'<summary>{task} <span class="count">{c["total"]} operations, searched</span>' in page
    assert html.unescape(page).count((tmp_path / "made" / "scara.c").read_text(encoding="utf-8").strip()) == 1
    result = kane(tmp_path, "report", "scara", "-o", "page.html", "--quick")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert f'{counted["inverse_dynamics"]["total"]} operations, searched</span>' in page


def test_no_step_says_that_a_thing_is_itself():
    """Speeds that are the rates are said to be so: typeset, qd1 and q1_dot are one symbol."""
    mechanism = load("scara").mechanism
    data = kane_steps(work_out(kane_equations(mechanism))).data
    text = json.dumps(data)
    assert "q1_dot = qd1" not in text and all(f"qd{k}, the rate of q{k}" in text for k in range(1, 5))
