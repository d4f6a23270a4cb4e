"""Kane's steps of a robot with many speeds, from body to body: every row is short, whatever the number of bodies.

With the origin of body k at r^k from that of its parent p, a joint that turns at the rate s about the axis z:

    w^k = w^p + s z,  v^k = v^p + w^p x r^k,  alpha^k = alpha^p + s' z + w^p x s z,
    a^k = a^p + alpha^p x r^k + w^p x (w^p x r^k)

and what acts on the bodies beyond joint k is summed from the ends to the root (Luh, Walker and Paul 1980): the partial
velocities of joint k are the same for all of them, z and z x (their place from the joint).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kane.errors import InputError
from kane.kinematics.coordinates import Coordinates, find_coordinates, symbol_name
from kane.mechanism.formula import number
from kane.mechanism.joints import joint_type
from kane.mechanism.model import Mechanism
from kane.mechanism.numeric import Array
from kane.report.sections.frames import Moving, moving_frames
from kane.report.sections.steps import EXPLAINED, KaneSteps, StepTable

Json = Any
INERTIA = ("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")


def recursive_steps(mechanism: Mechanism) -> KaneSteps:
    """The eight steps, body by body.

    Raises InputError for what it does not write: parameters given at run time, speeds of the user's choice, joints
    whose amounts are not linear in one coordinate, spinning rotors, loads and constraints.
    """
    if mechanism.loads or mechanism.constraints:
        name = str(getattr((*mechanism.constraints, *mechanism.loads)[0], "name", ""))
        raise InputError(
            f"With this many speeds the steps are of trees without loads and constraints, and there is {name!r}.",
            name=name, remedy="kane.equations.steps.work_out(kane.kane_equations(mechanism)) has them.",
        )  # fmt: skip
    c = find_coordinates(mechanism)
    frames = moving_frames(mechanism, c)
    writer = _Writer(mechanism, c, frames)
    titles = (
        (1, "Preliminaries", EXPLAINED[1], writer.bodies()),
        (2, "Generalized coordinates and speeds", "Where each body's origin is from its parent's, and how it moves "
         "there. A quantity's upper mark is the body; 𝐫, 𝐜: place of its origin and of its mass centre.",
         writer.places()),
        (3, "Velocities and angular velocities", EXPLAINED[3], writer.velocities()),
        (4, "Partial velocities and partial angular velocities", "The same for all bodies beyond the joint, zero for "
         "the others; 𝐝 is where the mass centre is from the joint's origin.", writer.partials()),
        (5, "Accelerations and angular accelerations", EXPLAINED[5], writer.accelerations()),
        (6, "Generalized inertia forces", "Inertia force 𝐑 and torque 𝐓 of each body; 𝐅 and 𝐌 (about the body's "
         "origin) are those of all bodies beyond. F*ᵣ is what of them works on the joint's motion.",
         writer.inertia_forces()),
        (7, "Generalized active forces", "Weight 𝐆 of all bodies beyond and its moment 𝐋, and the joint's own force "
         "or torque τ.", writer.active_forces()),
        (8, "Kane's equations F_r + F*_r = 0", "One for each speed; the part “Equations” has them as they are "
         "computed.", writer.equations()),
    )  # fmt: skip
    steps = tuple(StepTable(number, title, said, len(table["rows"])) for number, title, said, table in titles)
    return KaneSteps(steps, {"tables": [table for *_, table in titles], "symbols": sorted(writer.symbols)})


Term = tuple[int, list[Json]]


class _Writer:
    """The tables.  A cell {"l": left, "t": [[sign, factors], ...]} is an equation between vectors or scalars.

    Factors: {"q": quantity}, {"v": [[coefficient, frame, axis], ...]}, {"f": formula}, and "x", ".", "(", ")".
    """

    def __init__(self, mechanism: Mechanism, c: Coordinates, frames: Sequence[Moving]) -> None:
        self.mechanism, self.c, self.frames = mechanism, c, frames
        self.rates = [symbol_name("qd", name) for name in c.speeds]
        self.seconds = [symbol_name("qdd", name) for name in c.speeds]
        self.symbols = {*self.rates, *self.seconds, *(symbol_name("q", name) for name in c.names)}
        self.children: list[list[int]] = [[] for _ in frames]
        for k, x in enumerate(frames):
            if x.parent >= 0:
                self.children[x.parent].append(k)
        self.heavy = [False] * len(frames)
        for k in reversed(range(len(frames))):
            self.heavy[k] = frames[k].com is not None or any(self.heavy[child] for child in self.children[k])

    # cells

    def name(self, k: int) -> str:
        return self.frames[k].name if k >= 0 else "N"

    def q(self, head: str, k: int, mark: str = "") -> Json:
        return {"q": f"{head}_{self.name(k)}{mark}"}

    def vector(self, parts: Sequence[tuple[str, Array]], frame: str) -> Json:
        """Sum of coefficient * components in the axes of a frame; coefficient "" for 1."""
        found = []
        for text, components in parts:
            for axis, x in enumerate(components):
                if abs(x) > 1e-12:
                    found.append([_coefficient(float(x), text), frame, axis])
        return {"v": found}

    def moved(self, k: int, of: Sequence[tuple[int, Array]], names: Sequence[str]) -> list[Term]:
        if not of:
            return []
        return [(1, [self.vector([(names[r], d) for r, d in of], self.name(k))])]

    def equation(self, left: Json, terms: Sequence[Term]) -> dict[str, Json]:
        return {"l": left, "t": [[sign, factors] for sign, factors in terms]}

    def far(self, k: int) -> bool:
        """Whether the origin of a frame is away from its parent's."""
        return bool(np.any(np.abs(self.frames[k].place) > 1e-12)) or bool(self.frames[k].travel)

    def off(self, k: int) -> bool:
        """Whether a body's mass centre is away from its origin."""
        com = self.frames[k].com
        return com is not None and bool(np.any(np.abs(com) > 1e-12))

    def bodied(self) -> list[int]:
        return [k for k, x in enumerate(self.frames) if x.com is not None]

    # steps

    def bodies(self) -> Json:
        rows = []
        for k in self.bodied():
            x = self.frames[k]
            moments = [x.inertia[i][j] for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))]
            rows.append([
                {"b": x.name}, {"f": f"{x.mass:.6g}"}, self.equation(self.q("c", k), self._constant(k, x.com)),
                {"l": [f"{n} = {v:.6g}" for n, v in zip(INERTIA, moments, strict=True) if abs(v) > 1e-15]},
            ])  # fmt: skip
        headers = ["body", "mass", "mass centre from its origin", "inertia about it, in its axes"]
        return {"headers": headers, "rows": rows}

    def _constant(self, k: int, components: Array) -> list[Term]:
        found = self.vector([("", components)], self.name(k))
        return [(1, [found])] if found["v"] else []

    def places(self) -> Json:
        rows = []
        for k, x in enumerate(self.frames):
            fixed = self.vector([("", x.place)], self.name(x.parent))["v"]
            own = self.name(x.parent) if x.kind == "free" else x.name
            travel = self.vector([(symbol_name("q", name), d) for name, d in x.travel], own)["v"]
            terms: list[Term] = [(1, [{"v": [*fixed, *travel]}])] if fixed or travel else []
            rows.append([{"b": x.name}, {"b": self.name(x.parent)}, self.equation(self.q("r", k), terms),
                         _turn_text(x.turned), x.motion])  # fmt: skip
        headers = ["body", "from", "its origin from that one's", "its axes, turned before the joint", "joint"]
        return {"headers": headers, "rows": rows}

    def velocities(self) -> Json:
        cells = []
        for k, x in enumerate(self.frames):
            p = x.parent
            w: list[Term] = [(1, [self.q("w", p)])] if p >= 0 else []
            v: list[Term] = [(1, [self.q("v", p)])] if p >= 0 else []
            if p >= 0 and self.far(k):
                v.append((1, [self.q("w", p), "x", self.q("r", k)]))
            (v if x.kind == "slide" else w).extend(self.moved(k, x.rate, self.rates))
            v += self.moved(k, x.shift, self.rates)
            cells += [self.equation(self.q("w", k), w), self.equation(self.q("v", k), v)]
            if x.com is not None:
                out: list[Term] = [(1, [self.q("w", k), "x", self.q("c", k)])] if self.off(k) else []
                cells.append(self.equation(self.q("v", k, "*"), [(1, [self.q("v", k)]), *out]))
        return {"headers": ["", ""], "rows": [[cell] for cell in cells]}

    def partials(self) -> Json:
        rows = []
        for r, speed in enumerate(self.c.speeds):
            for k, x in enumerate(self.frames):
                for which, found in (("shift" if x.kind == "slide" else "rate", x.rate), ("shift", x.shift)):
                    own = [d for place, d in found if place == r]
                    if not own:
                        continue
                    axis = self.vector([("", own[0])], x.name)
                    turning = which == "rate"
                    beyond = ", ".join(self.name(j) for j in self._beyond(k) if self.frames[j].com is not None)
                    omega = self.equation(None, [(1, [axis])] if turning else [])
                    vel = self.equation(None, [(1, [axis, "x", {"q": "d"}] if turning else [axis])])
                    rows.append([f"r = {r + 1} ({speed})", omega, vel, {"b": beyond or "none"}])
        headers = ["", {"n": "w_B"}, {"n": "v_B*"}, "bodies B"]
        return {"headers": headers, "rows": rows, "partial": True}

    def _beyond(self, k: int) -> list[int]:
        return [k, *(x for child in self.children[k] for x in self._beyond(child))]

    def accelerations(self) -> Json:
        cells = []
        for k, x in enumerate(self.frames):
            p = x.parent
            alpha: list[Term] = [(1, [self.q("alpha", p)])] if p >= 0 else []
            a: list[Term] = [(1, [self.q("a", p)])] if p >= 0 else []
            if p >= 0 and self.far(k):
                a += self._carried(p, self.q("r", k))
            second, first = self.moved(k, x.rate, self.seconds), self.moved(k, x.rate, self.rates)
            (a if x.kind == "slide" else alpha).extend(second)
            if p >= 0 and first:
                factor = [{"f": "2"}] if x.kind == "slide" else []
                (a if x.kind == "slide" else alpha).append((1, [*factor, self.q("w", p), "x", *first[0][1]]))
            if x.shift:
                a += [*self.moved(k, x.shift, self.seconds), (1, [self.q("w", k), "x", self.q("v", k)])]
            cells += [self.equation(self.q("alpha", k), alpha), self.equation(self.q("a", k), a)]
            if x.com is not None:
                out = self._carried(k, self.q("c", k)) if self.off(k) else []
                cells.append(self.equation(self.q("a", k, "*"), [(1, [self.q("a", k)]), *out]))
        return {"headers": ["", ""], "rows": [[cell] for cell in cells]}

    def _carried(self, k: int, place: Json) -> list[Term]:
        w = self.q("w", k)
        return [(1, [self.q("alpha", k), "x", place]), (1, [w, "x", "(", w, "x", place, ")"])]

    def inertia_forces(self) -> Json:
        cells = []
        for k in self.bodied():
            w, inertia = self.q("w", k), self.q("I", k)
            mass = {"f": f"{self.frames[k].mass:.6g}"}
            cells.append(self.equation(self.q("R", k), [(-1, [mass, self.q("a", k, "*")])]))
            spin: list[Term] = [
                (-1, [inertia, ".", self.q("alpha", k)]), (-1, [w, "x", "(", inertia, ".", w, ")"])
            ]  # fmt: skip
            cells.append(self.equation(self.q("T", k), spin))
        rows = [[cell] for cell in (*cells, *self._sums(("f", "m"), ("R", "T")))]
        rotors = {joint_type(j).coordinates(j)[0]: j.rotor for j in self.mechanism.joints if j.rotor is not None}
        values = self.mechanism.parameter_values
        for r, speed in enumerate(self.c.speeds):
            extra: list[Term] = []
            if speed in rotors:
                found = rotors[speed]
                size = number(found.inertia, values) * number(found.ratio, values) ** 2
                extra = [(-1, [{"f": _coefficient(size, self.seconds[r])}])]
            rows.append([self.equation({"s": f"F*_{r + 1}"}, [*self._works(r, ("f", "m")), *extra])])
        return {"headers": [""], "rows": rows}

    def _sums(self, of: tuple[str, str], own: tuple[str, str]) -> list[Json]:
        """Force and moment of all bodies beyond, from the ends to the root."""
        cells = []
        for k in reversed(range(len(self.frames))):
            if not self.heavy[k]:
                continue
            force: list[Term] = []
            moment: list[Term] = []
            if self.frames[k].com is not None:
                force.append((1, [self.q(own[0], k)]))
                if own[1]:
                    moment.append((1, [self.q(own[1], k)]))
                if self.off(k):
                    moment.append((1, [self.q("c", k), "x", self.q(own[0], k)]))
            for child in self.children[k]:
                if self.heavy[child]:
                    force.append((1, [self.q(of[0], child)]))
                    moment.append((1, [self.q(of[1], child)]))
                    if self.far(child):
                        moment.append((1, [self.q("r", child), "x", self.q(of[0], child)]))
            cells += [self.equation(self.q(of[0], k), force), self.equation(self.q(of[1], k), moment)]
        return cells

    def _works(self, r: int, of: tuple[str, str]) -> list[Term]:
        """What a force and moment do on the motion of a speed."""
        terms: list[Term] = []
        for k, x in enumerate(self.frames):
            for head, found in ((of[0] if x.kind == "slide" else of[1], x.rate), (of[0], x.shift)):
                for place, d in found:
                    if place == r and self.heavy[k]:
                        terms.append((1, [self.vector([("", d)], x.name), ".", self.q(head, k)]))
        return terms

    def active_forces(self) -> Json:
        values = self.mechanism.parameter_values
        g = np.array([number(x, values) for x in self.mechanism.gravity])
        rows = [[self.equation({"q": "g"}, [(1, [self.vector([("", g)], "N")])] if np.any(g) else [])]]
        if np.any(g):
            for k in self.bodied():
                rows.append([self.equation(self.q("W", k), [(1, [{"f": f"{self.frames[k].mass:.6g}"}, {"q": "g"}])])])
            rows += [[cell] for cell in self._sums(("G", "L"), ("W", ""))]
        for r, speed in enumerate(self.c.speeds):
            tau: Term = (1, [{"f": symbol_name("tau", speed)}])
            self.symbols.add(symbol_name("tau", speed))
            rows.append([self.equation({"s": f"F_{r + 1}"}, [*(self._works(r, ("G", "L")) if np.any(g) else []), tau])])
        return {"headers": [""], "rows": rows}

    def equations(self) -> Json:
        rows = []
        for r in range(len(self.c.speeds)):
            both: list[Term] = [(1, [{"s": f"F_{r + 1}"}]), (1, [{"s": f"F*_{r + 1}"}])]
            rows.append([self.equation(None, both) | {"is": "0"}])
        return {"headers": [""], "rows": rows}


def _coefficient(x: float, text: str) -> str:
    """x * text as a formula."""
    if not text:
        return f"{x:.6g}"
    return text if x == 1 else f"-{text}" if x == -1 else f"{x:.6g}*{text}"


def _turn_text(R: Array) -> str:
    """A fixed rotation as angles about x, y, z of the parent (radians), in the order they are made."""
    if np.allclose(R, np.eye(3), atol=1e-12):
        return "as those"
    pitch = -np.arcsin(np.clip(R[2, 0], -1, 1))
    if abs(R[2, 0]) < 1 - 1e-12:
        roll, yaw = np.arctan2(R[2, 1], R[2, 2]), np.arctan2(R[1, 0], R[0, 0])
    else:
        roll, yaw = 0.0, np.arctan2(-R[0, 1], R[1, 1])
    angles = [float(f"{x:.6g}") + 0.0 for x in (roll, pitch, yaw)]
    return "roll, pitch, yaw " + ", ".join(f"{x:g}".replace("-", "−") for x in angles)
