"""The page as text: complete in itself, deterministic, names as text, numbers as computed."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import runpy
import struct
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from kane.api.robot import load
from kane.equations.derive import derive_task
from kane.explicit.model import explicit_model
from kane.explicit.program import program
from kane.graph.evaluate import evaluate
from kane.mechanism.model import Geometry
from kane.report import Given, Options, build_report, recording, render
from kane.report.render import embedded
from kane.report.sections.collada import collada_triangles
from kane.report.sections.maps import maps
from kane.report.sections.meshes import Mesh, find_meshes, thinned
from kane.report.sections.motion import torque_split, trajectory
from kane.report.sections.numbers import counts
from kane.report.sections.poles import poles
from kane.simulation.simulate import simulate

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
    assert "1 check passed" in text and "1 failed" in text
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
        A = np.array([[2.0, 0, 0, 0], [0, -1, 3, 0], [0, -3, -1, 0], [0, 0, 0, 0]])
        states = ("q", "u", "r", "s")

    rows = poles(Found()).rows
    assert [r.verdict for r in rows] == ["unstable", "on the limit", "stable", "stable"]
    assert float(rows[2].frequency) == pytest.approx(3 / (2 * np.pi), rel=1e-3)
    assert float(rows[2].damping) == pytest.approx(1 / np.sqrt(10), rel=1e-2)


def test_maps_have_the_values_of_the_mass_matrix_and_of_gravity():
    m = load("puma560").mechanism
    data = maps(m, {}).data
    assert [item["name"] for item in data["items"]] == data["names"] and len(data["names"]) == 6
    n, item = data["cells"], data["items"][1]
    q = np.zeros(6)
    M, g = (derive_task(m, task).program for task in ("mass_matrix", "gravity_forces"))
    low_x, high_x, low_y, high_y = item["range"]
    for row, column in ((0, 0), (3, 30), (n - 1, 7)):
        q[item["x"]] = low_x + (high_x - low_x) * (column + 0.5) / n
        q[item["y"]] = low_y + (high_y - low_y) * (row + 0.5) / n
        values = (next(iter(evaluate(M, {"q": q}).values()))[1, 1], next(iter(evaluate(g, {"q": q}).values()))[1])
        for packed, expected in zip(item["maps"], values, strict=True):
            cell = base64.b64decode(packed["cells"])[row * n + column]
            found = packed["low"] + (packed["high"] - packed["low"]) * cell / 255
            assert found == pytest.approx(expected, abs=0.004 * (packed["high"] - packed["low"]) + 1e-4)
    assert data["items"][0]["maps"][1]["low"] == data["items"][0]["maps"][1]["high"] == 0


def test_the_explicit_model_is_counted_beside_the_recursion():
    m = load("scara").mechanism
    model = explicit_model(m)
    text = render(build_report(m, Options(tolerances=(), targets=("c",), steps=False, base=False)))
    section = re.search(r'<section id="counts".*?</section>', text, re.S)[0]
    assert re.search(rf"explicit model</td>.*?>{program(model).counts.total}<", section)


COLLADA = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema">
<asset><unit meter="0.001"/><up_axis>{up}</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="a" count="12">0 0 0 1000 0 0 1000 1000 0 0 1000 0</float_array></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<polylist count="1"><input semantic="VERTEX" source="#v" offset="0"/><input semantic="NORMAL" source="#p" offset="1"/>
<vcount>4</vcount><p>0 0 1 0 2 0 3 0</p></polylist></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node><rotate>0 0 1 90</rotate><translate>0 0 500</translate>
<node><instance_geometry url="#g"/></node></node></visual_scene></library_visual_scenes></COLLADA>"""


def test_collada_files_are_placed_in_metres_with_z_upwards():
    """A square of 1000 mm: turned by 90 degrees about z, then moved along z."""
    corners, triangles = collada_triangles(COLLADA.format(up="Z_UP").encode())
    assert triangles.shape == (2, 3)
    square = {(0, 0, 0.5), (0, 1, 0.5), (-1, 1, 0.5), (-1, 0, 0.5)}
    assert {tuple(np.round(c, 9) + 0.0) for c in corners} == square
    turned, _ = collada_triangles(COLLADA.format(up="Y_UP").encode())
    assert np.allclose(turned, np.stack([corners[:, 0], -corners[:, 2], corners[:, 1]], 1))


@pytest.mark.parametrize("bad", (b"", b"<a>", b"<COLLADA/>", b"<!DOCTYPE a [<!ENTITY b 'c'>]><a/>", b"\xff\xfe"))
def test_bad_mesh_files_are_left_out(tmp_path, bad):
    (tmp_path / "x.dae").write_bytes(bad)
    m = load("two_link").mechanism
    m = m.replace_link(replace(m.links[1], geometry=(Geometry("mesh", file="x.dae"),)))
    assert find_meshes(m, tmp_path) == {}


def test_a_run_is_recorded():
    m = load("two_link").mechanism
    run = simulate(m, 0.5, [0.3, 0.2])
    record = recording(run)
    assert record.q.shape == (2, len(record.t)) and record.t[-1] == pytest.approx(0.5)
    assert np.allclose(record.q[:, -1], run.q[:, -1])
    titles = [p.title for p in record.plots]
    assert titles[:3] == ["Coordinates", "Speeds", "Energy"]
    text = render(build_report(m, QUICK, Given(runs=(run,))))
    assert "Simulation" in text


def test_what_a_mechanism_has_not_is_left_out_with_the_reason():
    build = runpy.run_path(str(Path(__file__).parents[2] / "examples/rp_elastic.py"))["build"]
    text = render(build_report(build(2).mechanism(), Options(tolerances=(), targets=("c",))))
    assert text.count("has inertia of its own") >= 3
    assert {"robot", "scene", "counts", "steps", "equations", "code"} <= {
        a["id"] for tag, a in Seen(text).tags if tag == "section"
    }


def test_loads_and_constraints_are_said_to_be_no_part_of_the_tasks():
    build = runpy.run_path(str(Path(__file__).parents[2] / "examples/two_link.py"))["build"]
    text = render(build_report(build().mechanism(), replace(QUICK, explicit=False)))
    assert "loads are no part of them" in text


def test_bars_of_counts_are_in_proportion_or_broken() -> None:
    rows = [
        {"task": "inverse_dynamics", "method": method, "counts": {"mul": n, "add": 0, "total": n, "div": 0, "trig": 0}}
        for method, n in (("raw expanded", 10**6), ("generic recursion", 100), ("explicit", 200))
    ]
    derived = {"inverse_dynamics": derive_task(load("two_link").mechanism, "inverse_dynamics")}
    ((_, made),) = counts(load("two_link").mechanism, derived, rows).tasks
    shares = {row.method: (row.share, row.beyond) for row in made}
    assert shares["raw expanded"] == (1.0, True) and shares["explicit"] == (1.0, False)
    assert shares["generic recursion"] == (0.5, False)
