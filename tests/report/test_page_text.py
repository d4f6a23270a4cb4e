"""The page as text: complete in itself, deterministic, names as text, numbers as computed."""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from kane.api.robot import load
from kane.equations.derive import derive_task
from kane.graph.evaluate import evaluate
from kane.mechanism.model import Geometry
from kane.report import Given, Options, build_report, render
from kane.report.render import embedded
from kane.report.sections.meshes import Mesh, find_meshes, thinned
from kane.report.sections.motion import torque_split, trajectory
from kane.report.sections.poles import poles

QUICK = Options(tolerances=(), targets=("c",), base=False)


class Seen(HTMLParser):
    """Tags with attributes, in order."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def page():
    return render(build_report(load("two_link").mechanism, QUICK))


def test_nothing_is_fetched(page):
    for tag, attributes in Seen(page).tags:
        assert tag not in ("link", "iframe", "img", "object", "embed", "base"), tag
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith("#")
    style = re.search(r"<style>(.*?)</style>", page, re.S)[1]
    assert all(x.startswith("data:") for x in re.findall(r"url\(\s*['\"]?([^)]+)", style)) and "@import" not in style


def test_every_script_of_the_page_is_in_its_policy(page):
    import base64
    import hashlib

    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1].replace("&#39;", "'")
    scripts = re.findall(r"<script>(.*?)</script>", page, re.S)
    assert len(scripts) > 5
    for text in scripts:
        assert f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" in policy
    assert "unsafe-eval" not in policy and "script-src 'unsafe-inline'" not in policy and "default-src 'none'" in policy


def test_parts_have_headings_and_ids_are_unique(page):
    tags = Seen(page).tags
    ids = [a["id"] for _, a in tags if "id" in a]
    assert len(ids) == len(set(ids))
    sections = [a["id"] for tag, a in tags if tag == "section"]
    links = [a["href"][1:] for tag, a in tags if tag == "a" and a.get("href", "").startswith("#")]
    assert set(sections) <= set(links)
    assert all(a["aria-labelledby"] in ids for tag, a in tags if tag == "section")


def test_the_same_bytes_under_any_hash_seed():
    code = (
        "import hashlib; from kane.api.robot import load; from kane.report import *;"
        "print(hashlib.sha256(render(build_report(load('scara').mechanism, "
        "Options(tolerances=(), targets=('c',)))).encode()).hexdigest())"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": seed}, stdout=subprocess.PIPE, check=True
        ).stdout
        for seed in ("1", "77")
    }
    assert len(seen) == 1


@pytest.mark.parametrize("text", ("</script>", "<!--", "]]>", "&amp;", "\u2028", "a\"b'c\\", "\u202eabc"))
def test_embedded_data_is_read_back_and_holds_no_markup(text):
    made = embedded({text: [text, 1.5, float("nan")]})
    assert json.loads(made) == {text: [text, 1.5, None]}
    assert not set("<>&\u2028\u2029") & set(made)


def test_hostile_names_make_no_elements():
    evil = "</script><script>x()</script><img src=x>"
    m = load("two_link").mechanism
    named = replace(m, name=evil, report=replace(m.report, file=evil))
    plain = [tag for tag, _ in Seen(render(build_report(m, QUICK))).tags]
    tags = [tag for tag, _ in Seen(render(build_report(named, QUICK))).tags]
    assert "img" not in tags
    assert tags.count("script") == plain.count("script")


def test_counts_stand_beside_the_literature():
    m = load("puma560").mechanism
    text = render(build_report(m, replace(QUICK, steps=False, explicit=False)))
    section = re.search(r'<section id="counts".*?</section>', text, re.S)[0]
    total = derive_task(m, "inverse_dynamics").program.counts.total
    assert f">{total}<" in section
    assert "Armstrong" in section and ">1165<" in section and "OpenSYMORO" in section


def test_checks_that_failed_are_said_to_have_failed():
    m = load("two_link").mechanism
    checks = [
        {"name": "good", "value": 1e-12, "tolerance": 1e-9, "ok": True},
        {"name": "wrong", "value": 0.5, "tolerance": 1e-9, "ok": False},
        {"name": "left", "value": 0.0, "tolerance": 0.0, "ok": True, "note": "not checked: no library"},
    ]
    text = render(build_report(m, replace(QUICK, steps=False, explicit=False), Given(checks=checks)))
    assert "1 checks passed" in text and "1 failed" in text
    assert re.search(r"wrong.*?failed", text) and "not checked" in text and "no library" in text


@pytest.mark.parametrize("name", ("scara", "puma560_corke", "stanford"))
def test_the_torque_split_adds_up(name):
    m = load(name).mechanism
    record = torque_split(m, {})
    t, q, qd, qdd = trajectory(m)
    tau = evaluate(derive_task(m, "inverse_dynamics").program, {"q": q, "qd": qd, "qdd": qdd})["tau"]
    friction = derive_task(m, "friction_forces").program
    tau = tau + next(iter(evaluate(friction, {"qd": qd}).values()))
    for i, curves in enumerate(record.plots[0].choices):
        parts = dict(curves.series)
        assert np.allclose(parts["total"], tau[:, i], atol=1e-9 * np.abs(tau).max())
    assert np.allclose(np.gradient(q, t, axis=0)[1:-1], qd[1:-1], atol=0.02)
    assert np.allclose(np.gradient(qd, t, axis=0)[1:-1], qdd[1:-1], atol=0.1)


def test_coriolis_and_centrifugal_parts_of_a_closed_form():
    """Two links: joint 1 has -h (2 qd1 qd2 + qd2^2), joint 2 h qd1^2 with h = m2 l1 r2 sin q2."""
    m = load("two_link").mechanism
    v = m.parameter_values
    t, q, qd, _ = trajectory(m)
    h = v["m2"] * v["l1"] * v["r2"] * np.sin(q[:, 1])
    first, second = (dict(c.series) for c in torque_split(m, {}).plots[0].choices)
    assert np.allclose(first["Coriolis"], -2 * h * qd[:, 0] * qd[:, 1])
    assert np.allclose(first["centrifugal"], -h * qd[:, 1] ** 2)
    assert np.allclose(second["centrifugal"], h * qd[:, 0] ** 2)
    assert len(t) == len(h)


def cube(path):
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    body = b"".join(struct.pack("<12fH", 0, 0, 0, *corners[list(t)].ravel(), 0) for t in triangles)
    path.write_bytes(b"\0" * 80 + struct.pack("<I", len(triangles)) + body)


def test_meshes_are_found_read_and_packed(tmp_path):
    (tmp_path / "meshes").mkdir()
    cube(tmp_path / "meshes" / "box.stl")
    (tmp_path / "meshes" / "bad.stl").write_bytes(b"solid nothing")
    m = load("two_link").mechanism
    shapes = tuple(Geometry("mesh", file=f"package://robot/meshes/{n}.stl") for n in ("box", "bad", "missing"))
    m = m.replace_link(replace(m.links[1], geometry=shapes))
    found = find_meshes(m, tmp_path)
    assert list(found) == ["package://robot/meshes/box.stl"]
    (mesh,) = found.values()
    assert mesh.vertices.shape == (8, 3) and mesh.triangles.shape == (12, 3)
    text = render(build_report(m, replace(QUICK, steps=False, explicit=False, folder=tmp_path)))
    assert "package://robot/meshes/box.stl" in text


def test_meshes_are_thinned_to_their_budget():
    n = 90
    u, v = (x.ravel() for x in np.meshgrid(np.linspace(0, np.pi, n), np.linspace(0, 2 * np.pi, n), indexing="ij"))
    ball = np.stack([np.sin(u) * np.cos(v), np.sin(u) * np.sin(v), np.cos(u)], 1)
    at = np.arange(n * n).reshape(n, n)
    triangles = np.concatenate(
        [np.stack([at[:-1, :-1], at[1:, :-1], at[1:, 1:]], -1).reshape(-1, 3),
         np.stack([at[:-1, :-1], at[1:, 1:], at[:-1, 1:]], -1).reshape(-1, 3)]
    )  # fmt: skip
    small = thinned(Mesh(ball, triangles), 2000)
    assert 300 < len(small.triangles) <= 2000
    assert np.abs(np.linalg.norm(small.vertices, axis=1) - 1).max() < 0.1
    assert small.triangles.max() < len(small.vertices)


def test_poles_say_what_they_mean():
    class Found:
        eigenvalues = np.array([2.0 + 0j, -1 + 3j, -1 - 3j, 0j])
        states = ("q", "u", "r", "s")

    rows = poles(Found()).rows
    assert [r.verdict for r in rows] == ["unstable", "stable", "stable", "on the limit"]
    assert float(rows[1].frequency) == pytest.approx(3 / (2 * np.pi), rel=1e-3)
    assert float(rows[1].damping) == pytest.approx(1 / np.sqrt(10), rel=1e-2)
