"""Other libraries as oracles: pinocchio and MuJoCo, where they are installed, on the same URDF file.

Conventions are converted here, and only here.  What the libraries do otherwise by design is taken out or put in:
followers are reduced by hand (v = G u with the ratios in G), rotors and joint friction are left out on both sides,
what is fixed to the root carries no load.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kane.equations.system import derive_system
from kane.equations.tasks.regressors import parameter_columns
from kane.errors import MissingExtraError
from kane.formats import write_urdf
from kane.graph.program import Program
from kane.kinematics.coordinates import Coordinates, find_coordinates
from kane.mechanism.formula import Formula, Scalar
from kane.mechanism.inertia import total_mass
from kane.mechanism.joints import joint_type
from kane.mechanism.model import Joint, Mechanism
from kane.verification.check import Check, check, skipped
from kane.verification.functions import Compiled, Functions, random_states, relative
from kane.verification.laws import TOLERANCE, without_rotors

Array = npt.NDArray[np.float64]
DERIVATIVE_TOLERANCE = 1e-8


@dataclass(frozen=True, slots=True)
class Reference:
    """A pinocchio model and how its joints are those of a mechanism.

    root: the floating joint that stands for pinocchio's free flyer, None for a fixed base.  joints: moving joints
    that pinocchio has.  note: why another text than the file was given to pinocchio.
    """

    pin: Any
    model: Any
    data: Any
    mechanism: Mechanism
    coordinates: Coordinates
    root: Joint | None
    joints: tuple[Joint, ...]
    note: str = ""

    def regressor_columns(self) -> list[list[int]]:
        """pinocchio's columns for each of our bodies: m, h, Ixx, Ixy, Iyy, Ixz, Iyz, Izz there, ours by rows."""
        system = derive_system(self.mechanism)
        heads = [name.rpartition(".")[0] for _, name in parameter_columns(system)[::10]]
        by_child = {joint.child: "root_joint" if joint is self.root else joint.name for joint in self.joints}
        starts = [10 * (self.model.getJointId(by_child[head]) - 1) for head in heads]
        return [[start + k for k in (0, 1, 2, 3, 4, 5, 7, 6, 8, 9)] for start in starts]

    def convert(self, q: Array, u: Array) -> tuple[Array, Array, Array]:
        """pinocchio's q, and G, Gdot with v = G u."""
        values = dict(zip(self.coordinates.names, q.tolist(), strict=True))
        rates = dict(zip(self.coordinates.speeds, u.tolist(), strict=True))
        column = {name: k for k, name in enumerate(self.coordinates.speeds)}
        pq = self.pin.neutral(self.model)
        G, Gdot = np.zeros((self.model.nv, len(u))), np.zeros((self.model.nv, len(u)))
        for joint in self.joints:
            name = "root_joint" if joint is self.root else joint.name
            part = self.model.joints[self.model.getJointId(name)]
            a, v = part.idx_q, part.idx_v
            kind = joint_type(joint)
            own, speeds = kind.coordinates(joint), kind.speeds(joint)
            if joint.type in ("floating", "spherical"):  # pinocchio: xyz, quaternion x y z w; linear before angular
                place = [values[n] for n in own[:-4]]
                w, x, y, z = (values[n] for n in own[-4:])
                pq[a : a + part.nq] = [*(place or [0.0] * (part.nq - 4)), x, y, z, w]  # stand-ins do not slide
                first = v + part.nv - len(speeds)
                for k, n in enumerate((*speeds[3:], *speeds[:3])):
                    G[first + k, column[n]] = 1.0
            elif joint.type == "planar":  # pinocchio: x, y, cos, sin; velocities in turned axes
                x, y, theta = (values[n] for n in own)
                c, s, rate = np.cos(theta), np.sin(theta), rates[speeds[2]]
                pq[a : a + 4] = x, y, c, s
                at = [column[n] for n in speeds]
                G[v : v + 3, at] = [[c, s, 0], [-s, c, 0], [0, 0, 1]]
                Gdot[v : v + 3, at] = np.array([[-s, c, 0], [-c, -s, 0], [0, 0, 0]]) * rate
            else:
                master, ratio, offset = follow(self.mechanism, joint)
                angle = ratio * values[master] + offset
                pq[a : a + part.nq] = [angle] if part.nq == 1 else [np.cos(angle), np.sin(angle)]
                G[v, column[master]] = ratio
        return pq, G, Gdot


def follow(mechanism: Mechanism, joint: Joint) -> tuple[str, float, float]:
    """The coordinate that drives a joint of one degree, with ratio and offset (1 and 0 when it is its own)."""
    ratio, offset = 1.0, 0.0
    while joint.mimic is not None:
        offset += ratio * _number(joint.mimic.offset)
        ratio *= _number(joint.mimic.ratio)
        joint = mechanism.joint(joint.mimic.joint)
    return joint_type(joint).coordinates(joint)[0], ratio, offset


def _number(scalar: Scalar) -> float:
    return scalar.evaluate({}) if isinstance(scalar, Formula) else float(scalar)


def load_pinocchio(path: str | Path, mechanism: Mechanism) -> Reference:
    """pinocchio's model of the URDF file that `mechanism` was read from.

    Raises MissingExtraError without pinocchio, ValueError when pinocchio cannot read the file or has other joints.
    """
    try:
        import pinocchio as pin
    except ImportError:
        raise MissingExtraError("pinocchio is not installed.", remedy="pip install pin") from None
    moving = tuple(j for j in mechanism.joints if joint_type(j).coordinates(j))
    balls = {j.name for j in moving if j.type == "spherical"}  # no URDF for pinocchio: read as floating, held in place

    text = _floating(Path(path).read_bytes(), balls) if balls else None
    note = ""
    if Path(path).suffix == ".xacro":
        text, note = as_written(mechanism), "the file expanded, as written here"

    def built(*root: Any) -> Any:
        return pin.buildModelFromUrdf(str(path), *root) if text is None else pin.buildModelFromXML(text, *root)

    plain = built()
    mass = sum(inertia.mass for inertia in plain.inertias)
    repaired = [note for note in mechanism.report.of("repaired") if "<inertia" in note.text]
    if repaired or abs(mass - total_mass(mechanism)) > 1e-9 * abs(mass):
        why = "it drops inertia that was repaired here" if repaired else f"it reads {mass:.6g} kg from the file"
        text, note = as_written(mechanism), f"{why}; compared with the robot as written here"
        plain = built()
    root = next((j for j in moving if j.type == "floating" and j.parent == mechanism.root), None)
    if root is not None and plain.existJointName(root.name):
        root = None
    model = plain if root is None else built(pin.JointModelFreeFlyer())
    names = {"root_joint" if j is root else j.name for j in moving}
    if names != set(model.names) - {"universe"}:
        raise ValueError(f"joints differ: {sorted(names ^ (set(model.names) - {'universe'}))}")
    model.gravity.linear = np.array([_number(x) for x in mechanism.gravity])
    model.armature = np.zeros(model.nv)
    return Reference(pin, model, model.createData(), mechanism, find_coordinates(mechanism), root, moving, note)


def as_written(mechanism: Mechanism) -> str:
    """URDF of our own for a library that does not read all of the file; a root that floats is left to the library."""
    first = next(iter(mechanism.joints), None)
    if first is not None and first.type == "floating" and first.parent == mechanism.root:
        links = tuple(link for link in mechanism.links if link.name != mechanism.root)
        mechanism = replace(mechanism, links=links, joints=mechanism.joints[1:])
    return _floating(write_urdf(mechanism).encode(), {j.name for j in mechanism.joints if j.type == "spherical"})


def _floating(data: bytes, names: set[str]) -> str:
    """URDF text with the joints of these names declared floating."""
    from xml.etree import ElementTree

    root = ElementTree.fromstring(data)
    for element in root.findall("joint"):
        if element.get("name") in names:
            element.set("type", "floating")
            for limit in element.findall("limit"):  # its velocity may be missing, which pinocchio wants
                element.remove(limit)
    return ElementTree.tostring(root, encoding="unicode")


def compare_pinocchio(
    path: str | Path, mechanism: Mechanism, functions: Mapping[str, Program | Compiled], seed: int = 0, states: int = 4,
    frames: Mapping[str, Mapping[str, Program | Compiled]] | None = None,
) -> tuple[Check, ...]:
    """Every task against pinocchio at random states.

    functions: by task name, derived from the mechanism without rotors; frames: frame name -> functions of its tasks.
    """  # fmt: skip
    try:
        r = load_pinocchio(path, mechanism)
    except (MissingExtraError, ValueError) as error:
        return (skipped("pinocchio", str(error)),)
    f = Functions(functions)
    s = random_states(r.coordinates, states, seed)
    columns = r.regressor_columns() if "regressor" in f else []
    rows = [_expected(r, columns, q, u, udot) for q, u, udot in zip(s["q"], s["qd"], s["qdd"], strict=True)]
    e = {key: np.array([row[key] for row in rows]) for key in rows[0]}
    made = [
        check(f"pinocchio: {task}", error, DERIVATIVE_TOLERANCE if "derivatives" in task else TOLERANCE, r.note)
        for task, error in task_errors(f, s, e).items()
    ]
    for frame, table in (frames or {}).items():
        made += _frame_checks(r, frame, Functions(table), s)
    return tuple(made)


def _expected(r: Reference, columns: Sequence[Sequence[int]], q: Array, u: Array, udot: Array) -> dict[str, Any]:
    """pinocchio's answers in our conventions."""
    pin, model, data = r.pin, r.model, r.data
    pq, G, Gdot = r.convert(q, u)
    v, a = G @ u, G @ udot + Gdot @ u
    M = pin.crba(model, data, pq)
    M = np.triu(M) + np.triu(M, 1).T
    C = G.T @ (pin.computeCoriolisMatrix(model, data, pq, v) @ G + M @ Gdot)
    pin.computeRNEADerivatives(model, data, pq, v, a)
    dq, dv = np.array(data.dtau_dq), np.array(data.dtau_dv)
    full = np.reshape(pin.computeJointTorqueRegressor(model, data, pq, v, a), (model.nv, -1))  # flat for one speed
    Y = np.hstack([full[:, block] for block in columns]) if columns else full
    return {
        "Y": G.T @ Y,
        "M": G.T @ M @ G,
        "tau": G.T @ pin.rnea(model, data, pq, v, a),
        "bias": G.T @ pin.rnea(model, data, pq, v, Gdot @ u),
        "gravity": G.T @ pin.computeGeneralizedGravity(model, data, pq),
        "C": C,
        "T": pin.computeKineticEnergy(model, data, pq, v),
        "V": pin.computePotentialEnergy(model, data, pq),
        "dtau_dq": G.T @ dq @ G,
        "dtau_dqd": G.T @ dv @ G,
    }


def _product(M: Array, x: Array) -> Array:
    result: Array = np.einsum("...ij,...j->...i", M, x)
    return result


def task_errors(f: Functions, s: Mapping[str, Array], e: Mapping[str, Array]) -> dict[str, float]:
    """Errors by task against the largest term of each state; accelerations by the force they leave over.

    Component by component it would show the angles that reading snaps to multiples of pi/12 (by 1e-11 rad).
    """
    q, u, udot, tau = s["q"], s["qd"], s["qdd"], s["tau"]
    M, h = e["M"], e["bias"]
    size = _product(np.abs(M), np.abs(udot)) + np.abs(h)
    result: dict[str, float] = {}
    if "inverse_dynamics" in f:
        made = f("inverse_dynamics", q=q, qd=u, qdd=udot)
        result["inverse_dynamics"] = relative(made - e["tau"], size + np.abs(made))
    if "forward_dynamics" in f:
        a = f("forward_dynamics", q=q, qd=u, tau=tau)
        scale = _product(np.abs(M), np.abs(a)) + np.abs(h) + np.abs(tau)
        result["forward_dynamics"] = relative(_product(M, a) + h - tau, scale)
    plain = {"mass_matrix": "M", "gravity_forces": "gravity", "potential_energy": "V"}
    for task, key in plain.items():
        if task in f and key in e:
            result[task] = relative(f(task, q=q) - e[key], e[key], M)
    for task, key in {"bias_forces": "bias", "kinetic_energy": "T"}.items():
        if task in f and key in e:
            result[task] = relative(f(task, q=q, qd=u) - e[key], e[key], M)
    if "coriolis_matrix" in f and "C" in e:
        C = f("coriolis_matrix", q=q, qd=u)
        Cu = _product(np.abs(e["C"]), np.abs(u))
        result["coriolis_matrix times qd"] = relative(_product(C - e["C"], u), Cu, h, M)
        result["coriolis_matrix"] = relative(C - e["C"], e["C"], M)  # both are the Levi-Civita connection
    if "regressor" in f and "Y" in e:
        result["regressor"] = relative(f("regressor", q=q, qd=u, qdd=udot) - e["Y"], e["Y"])
    if "inverse_dynamics_derivatives" in f and "dtau_dq" in e:
        made_q, made_u, made_a = f.all("inverse_dynamics_derivatives", q=q, qd=u, qdd=udot)
        pairs_ = ((made_q, e["dtau_dq"]), (made_u, e["dtau_dqd"]))
        error = max(relative(x - y, y, M) for x, y in pairs_)
        result["inverse_dynamics_derivatives"] = max(error, relative(made_a - M, M))
    if "forward_dynamics_derivatives" in f and "dtau_dq" in e:
        # by the force that they leave over: M dqdd = -dID at that qdd
        made_q, made_u, made_t = f.all("forward_dynamics_derivatives", q=q, qd=u, tau=e["tau"])
        unit = np.broadcast_to(np.eye(M.shape[-1]), M.shape)
        pairs = ((made_q, -e["dtau_dq"]), (made_u, -e["dtau_dqd"]), (made_t, unit))
        result["forward_dynamics_derivatives"] = max(
            relative(M @ x - force, np.abs(M) @ np.abs(x), force, M) for x, force in pairs
        )
    return result


def _frame_checks(r: Reference, frame: str, f: Functions, s: Mapping[str, Array]) -> list[Check]:
    """Pose, Jacobian and its rate of a link's frame."""
    worst = dict.fromkeys(f.table, 0.0)
    pin, model, data = r.pin, r.model, r.data
    number = model.getFrameId(frame, pin.FrameType.BODY)  # a joint may have the name of a link
    aligned = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    order = [3, 4, 5, 0, 1, 2]
    for q, u in zip(s["q"], s["qd"], strict=True):
        pq, G, Gdot = r.convert(q, u)
        pin.computeJointJacobiansTimeVariation(model, data, pq, G @ u)
        pin.updateFramePlacements(model, data)
        J, Jdot = (  # flat for one speed
            np.reshape(get(model, data, number, aligned), (6, model.nv))[order]
            for get in (pin.getFrameJacobian, pin.getFrameJacobianTimeVariation)
        )
        expected = {
            "forward_kinematics": data.oMf[number].homogeneous,
            "jacobian": J @ G,
            "jacobian_rate": Jdot @ G + J @ Gdot,
        }
        for task in worst:
            given = {"q": q} if task != "jacobian_rate" else {"q": q, "qd": u}
            value = expected[task]
            error = np.abs(f(task, **given) - value).max(initial=0.0) / max(1.0, np.abs(value).max(initial=0.0))
            worst[task] = max(worst[task], float(error)) if np.isfinite(error) else float("inf")
    return [check(f"pinocchio: {task} of {frame}", error, TOLERANCE) for task, error in worst.items()]


def without_meshes(text: str) -> str:
    """URDF text that MuJoCo can read without any mesh: shapes and unknown elements dropped, inertia untouched."""
    from xml.etree import ElementTree

    root = ElementTree.fromstring(text)
    for link in root.findall("link"):
        for tag in ("visual", "collision"):
            for element in link.findall(tag):
                link.remove(element)
    for element in [child for child in root if child.tag not in ("link", "joint")]:
        root.remove(element)
    option = ElementTree.SubElement(root, "mujoco")
    settings = {"discardvisual": "false", "fusestatic": "false", "balanceinertia": "false", "boundmass": "0"}
    ElementTree.SubElement(option, "compiler", settings | {"inertiafromgeom": "false"})
    return ElementTree.tostring(root, encoding="unicode")


def compare_mujoco(
    path: str | Path, mechanism: Mechanism, functions: Mapping[str, Program | Compiled], seed: int = 0, states: int = 4
) -> tuple[Check, ...]:
    """Mass matrix and bias against MuJoCo, where it can read the file: fixed base, joints of one degree of freedom."""
    moving = tuple(j for j in mechanism.joints if joint_type(j).coordinates(j))
    if any(j.type not in ("revolute", "continuous", "prismatic") for j in moving):
        return (skipped("MuJoCo", "its URDF reader knows joints of one degree of freedom on a fixed base"),)
    try:
        import mujoco
    except ImportError:
        return (skipped("MuJoCo", "not installed"),)
    note = ""
    try:
        try:
            macros = Path(path).suffix == ".xacro"
            text = as_written(mechanism) if macros else Path(path).read_text(encoding="utf-8", errors="replace")
            model = mujoco.MjModel.from_xml_string(without_meshes(text))
        except (ValueError, SyntaxError) as error:
            note = f"it refuses the file ({str(error).splitlines()[0]}); compared with the robot as written here"
            model = mujoco.MjModel.from_xml_string(without_meshes(as_written(mechanism)))
    except (ValueError, SyntaxError) as error:
        return (skipped("MuJoCo", f"it refuses the file: {str(error).splitlines()[0]}"),)
    names = {model.joint(i).name for i in range(model.njnt)}
    if names != {j.name for j in moving}:
        return (skipped("MuJoCo", "it has other joints"),)
    model.opt.gravity = [_number(x) for x in mechanism.gravity]
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    model.dof_armature = 0.0
    data = mujoco.MjData(model)
    c = find_coordinates(mechanism)
    f = Functions(functions)
    s = random_states(c, states, seed)
    errors = {"mass_matrix": 0.0, "bias_forces": 0.0}
    for q, u in zip(s["q"], s["qd"], strict=True):
        G = np.zeros((model.nv, len(u)))
        for joint in moving:
            master, ratio, offset = follow(mechanism, joint)
            k = c.names.index(master)
            at = model.joint(joint.name)
            data.qpos[at.qposadr[0]] = ratio * q[k] + offset
            G[at.dofadr[0], k] = ratio
        data.qvel[:] = G @ u
        mujoco.mj_forward(model, data)
        full = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, full)
        expected = {"mass_matrix": G.T @ full @ G, "bias_forces": G.T @ data.qfrc_bias}
        for task, value in expected.items():
            if task in f:
                made = f(task, q=q) if task == "mass_matrix" else f(task, q=q, qd=u)
                sizes = (value[None], expected["mass_matrix"][None])
                errors[task] = max(errors[task], relative((made - value)[None], *sizes))
    return tuple(check(f"MuJoCo: {task}", errors[task], TOLERANCE, note) for task in errors if task in f)


def comparable(mechanism: Mechanism) -> Mechanism:
    """The mechanism as the oracles read it: without rotors."""
    return without_rotors(mechanism)
