"""SDF against Drake, whose reader is that of the format's own library; and against the same robot written as URDF.

Drake and the wheels with SDF files come with `make sweep`; the comparison with URDF needs nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from kane.equations.derive import derive_task
from kane.errors import InputError, MasslessJointError
from kane.formats import read
from kane.kinematics.coordinates import find_coordinates
from kane.mechanism.checks import judge
from kane.mechanism.formula import number
from kane.mechanism.joints import joint_type
from kane.mechanism.model import Mechanism
from kane.verification.functions import Functions, random_states
from kane.verification.interchange import interchange
from kane.verification.oracles import task_errors
from robot_files import WHEELS, degrees, wheel_files

TASKS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias_forces", "gravity_forces")
FILES = wheel_files(".sdf", b"<sdf")
REASONS = {
    r"holds \d models": (
        "pybullet_data/kuka_iiwa/model2.sdf",
        "pybullet_data/stadium.sdf",
        "pybullet_data/stadium_no_collision.sdf",
    )
}
STILL = ("pybullet_data/kiva_shelf/model.sdf", "pybullet_data/plane_stadium.sdf")  # no inertia at all
REFUSED = {name: reason for reason, names in REASONS.items() for name in names}


# ---------------------------------------------------------------- a random robot, as URDF and as SDF


def turn(rpy: np.ndarray) -> np.ndarray:
    c, s = np.cos(rpy), np.sin(rpy)
    x = np.array([[1, 0, 0], [0, c[0], -s[0]], [0, s[0], c[0]]])
    y = np.array([[c[1], 0, s[1]], [0, 1, 0], [-s[1], 0, c[1]]])
    z = np.array([[c[2], -s[2], 0], [s[2], c[2], 0], [0, 0, 1]])
    result: np.ndarray = z @ y @ x
    return result


def angles(R: np.ndarray) -> np.ndarray:
    """Roll, pitch, yaw of a matrix."""
    return np.array([np.arctan2(R[2, 1], R[2, 2]), -np.arcsin(R[2, 0]), np.arctan2(R[1, 0], R[0, 0])])


def frame(place: np.ndarray) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = turn(place[3:]), place[:3]
    return T


def text(values: np.ndarray) -> str:
    return " ".join(repr(float(v)) for v in values)


def pose(T: np.ndarray) -> str:
    return text(np.concatenate([T[:3, 3], angles(T[:3, :3])]))


def moments(r: np.random.Generator) -> dict[str, float]:
    """The tensor of a body: a rotated one with three fair principal moments."""
    R = turn(r.uniform(-1, 1, 3))
    a, b, c = r.uniform(0.01, 0.02, 3)
    I = R @ np.diag([b + c, a + c, a + b]) @ R.T
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    return dict(zip(names, I[np.triu_indices(3)].tolist(), strict=True))


KINDS = ("revolute", "prismatic", "continuous", "revolute", "continuous", "prismatic", "fixed", "revolute")


def both(seed: int) -> tuple[str, str]:
    """One random tree as URDF and as SDF.

    A link of the SDF stands anywhere beside its joint; its pose is given in the model, in another link, in a frame or
    in its joint, the axis in the joint or in the model.
    """
    r = np.random.default_rng(seed)
    urdf, sdf = ['<robot name="m"><link name="world"/>'], ['<sdf version="1.9"><model name="m">']
    world = {"world": np.eye(4)}  # joint frames, which are URDF's links, in the model
    stands = {}  # links of the SDF, in the model
    for k, kind in enumerate(KINDS):
        parent = f"l{r.integers(0, k)}" if k else "world"
        name, joint = f"l{k}", f"j{k}"
        step, aside, com = (frame(r.uniform(-1, 1, 6)) for _ in range(3))
        axis, mass, tensor = r.uniform(-1, 1, 3), r.uniform(0.5, 2), moments(r)
        world[name] = world[parent] @ step
        stands[name] = world[name] @ aside
        place = f'<origin xyz="{text(com[:3, 3])}" rpy="{text(angles(com[:3, :3]))}"/>'
        entries = " ".join(f'{key}="{value!r}"' for key, value in tensor.items())
        heavy = f'<inertial>{place}<mass value="{mass!r}"/><inertia {entries}/></inertial>'
        urdf.append(f'<link name="{name}">{heavy}</link>')
        urdf.append(
            f'<joint name="{joint}" type="{kind}"><parent link="{parent}"/><child link="{name}"/>'
            f'<origin xyz="{text(step[:3, 3])}" rpy="{text(angles(step[:3, :3]))}"/><axis xyz="{text(axis)}"/></joint>'
        )
        inertial = np.linalg.inv(aside) @ com
        body = "".join(f"<{key}>{value!r}</{key}>" for key, value in tensor.items())
        body = f"<inertial><pose>{pose(inertial)}</pose><mass>{mass!r}</mass><inertia>{body}</inertia></inertial>"
        way = r.integers(0, 4)
        if way == 1 and k:
            where = f'<pose relative_to="l0">{pose(np.linalg.inv(stands["l0"]) @ stands[name])}</pose>'
        elif way == 2:
            here = frame(r.uniform(-1, 1, 6))
            sdf.append(f'<frame name="f{k}"><pose>{pose(here)}</pose></frame>')
            where = f'<pose relative_to="f{k}">{pose(np.linalg.inv(here) @ stands[name])}</pose>'
        elif way == 3 and k:  # the joint stands in its parent, the link in the joint
            where = f'<pose relative_to="{joint}">{pose(aside)}</pose>'
        else:
            where = f"<pose>{pose(stands[name])}</pose>"
        if way == 3 and k:
            hinge = f'<pose relative_to="{parent}">{pose(np.linalg.inv(stands[parent]) @ world[name])}</pose>'
        else:
            hinge = f"<pose>{pose(np.linalg.inv(aside))}</pose>"
        along = f"<xyz>{text(axis)}</xyz>"
        if r.integers(0, 2):
            along = f'<xyz expressed_in="__model__">{text(world[name][:3, :3] @ axis)}</xyz>'
        sdf.append(f'<link name="{name}">{where}{body}</link>')
        sdf.append(
            f'<joint name="{joint}" type="{kind}">{hinge}<parent>{parent}</parent><child>{name}</child>'
            + ("" if kind == "fixed" else f"<axis>{along}</axis>")
            + "</joint>"
        )
    return "\n".join([*urdf, "</robot>"]), "\n".join([*sdf, "</model></sdf>"])


@pytest.mark.parametrize("seed", range(12))
def test_the_same_robot_as_urdf_and_as_sdf(seed: int) -> None:
    urdf, sdf = (read(source) for source in both(seed))
    names = find_coordinates(urdf).names
    assert set(names) == set(find_coordinates(sdf).names) and len(names) == 7
    order = [find_coordinates(sdf).names.index(n) for n in names]
    s = random_states(find_coordinates(urdf), 5, seed)
    one, two = (Functions({t: derive_task(m, t).program for t in TASKS[:3]}) for m in (urdf, sdf))
    other = {key: value[:, np.argsort(order)] for key, value in s.items()}
    for task, inputs in (("inverse_dynamics", ("q", "qd", "qdd")), ("forward_dynamics", ("q", "qd", "tau"))):
        a = one(task, **{k: s[k] for k in inputs})
        b = two(task, **{k: other[k] for k in inputs})[:, order]
        np.testing.assert_allclose(b, a, rtol=0, atol=1e-10 * np.abs(a).max())
    a, b = one("mass_matrix", q=s["q"]), two("mass_matrix", q=other["q"])
    np.testing.assert_allclose(b[:, order][:, :, order], a, rtol=0, atol=1e-11 * np.abs(a).max())


# ---------------------------------------------------------------- Drake


def drake() -> Any:
    if "pydrake" not in sys.modules and (WHEELS / "pydrake").is_dir():
        sys.path.append(str(WHEELS))
    pytest.importorskip("pydrake")
    return import_module("pydrake.all")


def compare(source: str, m: Mechanism, states: int = 20) -> dict[str, float]:
    """Errors of the tasks against Drake; the root floats in both."""
    d = drake()
    plant = d.MultibodyPlant(0.0)
    parser = d.Parser(plant)
    parser.AddModelsFromString(source, "sdf")
    plant.mutable_gravity_field().set_gravity_vector([number(x) for x in m.gravity])
    plant.Finalize()
    c = find_coordinates(m)
    assert plant.num_velocities() == len(c.speeds)
    context = plant.CreateDefaultContext()
    s = random_states(c, states, 3)
    rows = [_expected(plant, context, m, q, u, a) for q, u, a in zip(s["q"], s["qd"], s["qdd"], strict=True)]
    e = {key: np.array([row[key] for row in rows]) for key in rows[0]}
    return task_errors(Functions({t: derive_task(m, t).program for t in TASKS}), s, e)


def _expected(plant: Any, context: Any, m: Mechanism, q: np.ndarray, u: np.ndarray, udot: np.ndarray) -> dict[str, Any]:
    c = find_coordinates(m)
    values = dict(zip(c.names, q.tolist(), strict=True))
    n = len(u)
    dq, G, drift = np.zeros(plant.num_positions()), np.zeros((n, n)), np.zeros(n)
    for joint in m.joints:
        kind = joint_type(joint)
        own, at = kind.coordinates(joint), [c.speeds.index(x) for x in kind.speeds(joint)]
        if joint.type == "floating":  # Drake: quaternion, place; angular, linear velocity in world axes
            body = plant.GetBodyByName(joint.child)
            x, y, z, *quaternion = (values[k] for k in own)
            a, v = body.floating_positions_start(), body.floating_velocities_start_in_v()
            dq[a : a + 7] = [*quaternion, x, y, z]
            R = matrix(*quaternion)
            G[np.ix_(range(v, v + 3), at[:3])] = R
            G[np.ix_(range(v + 3, v + 6), at[3:])] = R
            drift[v + 3 : v + 6] = R @ np.cross(u[at[:3]], u[at[3:]])
            continue
        if not own:
            continue
        label, _, part = joint.name.partition(".")  # a universal joint is two of ours
        theirs = plant.GetJointByName(label)
        a, v = theirs.position_start(), theirs.velocity_start()
        if joint.type == "spherical":  # Drake: roll, pitch, yaw; angular velocity in axes of the frame before
            R = matrix(*(values[k] for k in own))
            dq[a : a + 3] = angles(R)
            G[np.ix_(range(v, v + 3), at)] = R
        else:
            shift = int(part) - 1 if part else 0
            dq[a + shift] = values[own[0]]
            G[v + shift, at[0]] = 1.0
    plant.SetPositions(context, dq)
    plant.SetVelocities(context, G @ u)
    M = plant.CalcMassMatrix(context)
    gravity = -plant.CalcGravityGeneralizedForces(context)
    bias = plant.CalcBiasTerm(context) + gravity + M @ drift
    return {"M": G.T @ M @ G, "tau": G.T @ (M @ G @ udot + bias), "bias": G.T @ bias, "gravity": G.T @ gravity}


def matrix(w: float, x: float, y: float, z: float) -> np.ndarray:
    v = np.array([x, y, z])
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return (w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * w * K


def bare(path: Path) -> str:
    """The model of a file without what is drawn or not SDF, which Drake refuses; its links called world renamed.

    Links of mass 0 get half a kilogram: Drake gives them one.
    """
    root = ElementTree.parse(path).getroot()
    model = next(root.iter("model"))
    for element in list(model):
        if element.tag not in ("link", "joint", "frame", "pose"):
            model.remove(element)
        for child in list(element):
            if element.tag == "link" and child.tag not in ("pose", "inertial"):
                element.remove(child)
            mass = child.find("mass")
            if mass is not None and float(mass.text or "0") == 0:
                mass.text = "0.5"
    out = ElementTree.Element("sdf", {"version": root.get("version", "1.7")})
    out.append(model)
    if any(link.get("name") == "world" for link in model.iter("link")):
        for element in model.iter():
            if element.tag == "link" and element.get("name") == "world":
                element.set("name", "ground")
            elif element.tag in ("parent", "child") and (element.text or "").strip() == "world":
                element.text = "ground"
    return ElementTree.tostring(out, encoding="unicode")


def good(errors: Mapping[str, float]) -> bool:
    return set(errors) == set(TASKS) and all(error <= 1e-9 for error in errors.values())


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(12))
def test_random_robots_are_drakes(seed: int) -> None:
    base = '<link name="l8"><pose>0.3 -0.2 1 0.1 0.2 0.3</pose></link>'  # 1 kg by default
    sdf = both(seed)[1].replace("<parent>world</parent>", "<parent>l8</parent>").replace("</model>", f"{base}</model>")
    errors = compare(sdf, judge(read(sdf, base="floating")))
    assert good(errors), errors


@pytest.mark.sweep
def test_states_handed_over_to_drake() -> None:
    """The same kinetic energy at the same states, by the public conversion."""
    base = '<link name="l8"><pose>0.3 -0.2 1 0.1 0.2 0.3</pose></link>'
    sdf = both(3)[1].replace("<parent>world</parent>", "<parent>l8</parent>").replace("</model>", f"{base}</model>")
    m = judge(read(sdf, base="floating"))
    d = drake()
    plant = d.MultibodyPlant(0.0)
    d.Parser(plant).AddModelsFromString(sdf, "sdf")
    plant.Finalize()
    context = plant.CreateDefaultContext()
    starts = {"root": plant.GetBodyByName("l8").floating_velocities_start_in_v()}
    for name in (f"j{k}" for k, kind in enumerate(KINDS) if kind != "fixed"):
        starts[name] = plant.GetJointByName(name).velocity_start()
    way = interchange(m, "drake", sorted(starts, key=lambda name: starts[name]))
    s = random_states(find_coordinates(m), 5, 4)
    functions = Functions({"kinetic_energy": derive_task(m, "kinetic_energy").program})
    energy = functions("kinetic_energy", q=s["q"], qd=s["qd"])
    for q, v, T in zip(way.positions(s["q"]), way.velocities(s["q"], s["qd"]), energy, strict=True):
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        assert plant.CalcKineticEnergy(context) == pytest.approx(float(T), rel=1e-11)


OTHERS = {
    "ball": "<joint name='j' type='ball'><pose>0.1 0.2 0.3 0.5 0 0.7</pose><parent>a</parent><child>b</child></joint>",
    "universal": (
        "<joint name='j' type='universal'><pose>0.1 0.2 0.3 0.5 0 0.7</pose><parent>a</parent><child>b</child>"
        "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint>"
    ),
    "screw": (
        "<joint name='j' type='screw'><pose>0.1 0.2 0.3 0.5 0 0.7</pose><parent>a</parent><child>b</child>"
        "<axis><xyz>0.6 0 -0.8</xyz></axis><screw_thread_pitch>0.5</screw_thread_pitch></joint>"
    ),
}
LINKS = "".join(
    f"<link name='{name}'><pose>{where}</pose><inertial><pose>0.1 0 0 0 0 0.3</pose><mass>2</mass>"
    "<inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.25</izz></inertia></inertial></link>"
    for name, where in (("a", "0 0 1 0.1 0.2 0.3"), ("b", "1 0.5 0.2 -0.4 0.3 0"))
)


@pytest.mark.sweep
@pytest.mark.parametrize("kind", OTHERS)
def test_other_joints_are_drakes(kind: str) -> None:
    sdf = f"<sdf version='1.9'><model name='m'>{LINKS}{OTHERS[kind]}</model></sdf>"
    errors = compare(sdf, read(sdf, base="floating"))
    assert good(errors), errors


@pytest.mark.sweep
@pytest.mark.parametrize("name", FILES)
def test_all_files(name: str) -> None:
    if name in REFUSED:
        with pytest.raises(InputError, match=REFUSED[name]):
            read(FILES[name])
        return
    if name in STILL:
        assert degrees(judge(read(FILES[name]))) == 0
        with pytest.raises(MasslessJointError):
            judge(read(FILES[name], base="floating"))
        return
    source = bare(FILES[name])
    m = read(source, base="floating")
    assert degrees(m) == degrees(judge(read(FILES[name], base="floating"), "accept"))
    errors = compare(source, m)
    assert good(errors), errors
