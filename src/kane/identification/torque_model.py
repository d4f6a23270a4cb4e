"""tau = W x: base parameters, rotors and joint friction as one linear model, compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from kane.equations.base_columns import Rotors, full_rows, rotor_columns
from kane.equations.base_parameters import BaseParameters, base_parameters
from kane.equations.system import System, derive_system
from kane.errors import InputError, NumberError, ShapeError
from kane.graph.program import build_program
from kane.mechanism.formula import number
from kane.mechanism.given import mechanism_of, real_array
from kane.mechanism.joints import joint_type
from kane.mechanism.model import Joint, Mechanism
from kane.mechanism.wording import counted
from kane.native import compile_program

Array = np.ndarray[Any, np.dtype[Any]]
Friction = Literal["given", "all", "none"] | Sequence[Literal["viscous", "coulomb", "offset"]]
LEFT_OUT: Any = object()
KINDS = ("viscous", "coulomb", "offset")


@dataclass(frozen=True, slots=True)
class FrictionColumn:
    """One friction parameter: viscous N m s/rad, Coulomb N m or offset N m of the joint that drives speed `row`."""

    name: str
    joint: str
    kind: str
    row: int
    value: float


@dataclass(frozen=True, slots=True)
class TorqueModel:
    """W (..., nv, k) with tau = W x; x: base parameters (base.names), then friction ("joint.viscous", ...).

    Coulomb columns are sign(qd), or qd / width within `width` of zero speed.  speeds: the name of each row; joints:
    that of its joint (of the speed itself where a joint has several).
    """

    mechanism: Mechanism
    base: BaseParameters
    friction: tuple[FrictionColumn, ...]
    joints: tuple[str, ...]
    speeds: tuple[str, ...]
    coordinates: tuple[str, ...]
    angles: tuple[bool | None, ...]
    width: float
    rotors: Rotors
    compiled: Callable[..., Any] = field(repr=False, compare=False)

    def __repr__(self) -> str:
        sizes = counted(((len(self.speeds), "torque"), (self.base.count, "base parameter"),
                         (len(self.friction), "friction parameter")))  # fmt: skip
        return f"<TorqueModel of {self.mechanism.name}: {sizes}; see names>"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters x."""
        return (*self.base.names, *(c.name for c in self.friction))

    @property
    def formulas(self) -> tuple[str, ...]:
        """What each parameter stands for."""
        return (*self.base.formulas, *(c.name for c in self.friction))

    @property
    def prior(self) -> Array:
        """x of the description."""
        return np.array([*self.base.values, *(c.value for c in self.friction)])

    @property
    def log_names(self) -> tuple[tuple[str, ...], ...]:
        """What each joint may be called in a log: its name, or that of its coordinate."""
        return tuple((j,) if j == s else (j, s) for j, s in zip(self.joints, self.speeds, strict=True))

    @property
    def nq(self) -> int:
        return len(self.coordinates)

    @property
    def nv(self) -> int:
        return len(self.speeds)

    def regressor(self, q: Any, qd: Any, qdd: Any) -> Array:
        """W (n, nv, k) at n states: q (n, nq), qd and qdd (n, nv)."""
        rigid = self.compiled(q, qd, qdd)
        if not self.friction:
            return np.asarray(rigid)
        W = np.zeros((*rigid.shape[:-1], len(self.names)))
        W[..., : rigid.shape[-1]] = rigid
        speeds = np.asarray(qd, dtype=np.float64)
        for k, column in enumerate(self.friction, start=rigid.shape[-1]):
            W[..., column.row, k] = friction_shape(column.kind, speeds[..., column.row], self.width)
        return W

    def torque(self, q: Any, qd: Any, qdd: Any, x: Any) -> Array:
        """tau (n, nv) of parameters x."""
        return np.asarray(self.regressor(q, qd, qdd) @ np.asarray(x, dtype=np.float64))

    def checked(self, q: Any, qd: Any, qdd: Any, tau: Any = LEFT_OUT) -> tuple[Array, Array, Array, Array]:
        """The arrays as float64 of shapes (n, nq) and (n, nv); a single state becomes n = 1; tau zero when left out.

        Raises ShapeError.
        """
        if tau is LEFT_OUT:
            tau = np.zeros((len(np.atleast_2d(real_array("q", q))), self.nv))
        given = {"q": (q, self.nq), "qd": (qd, self.nv), "qdd": (qdd, self.nv), "tau": (tau, self.nv)}
        arrays = {name: np.atleast_2d(real_array(name, a)) for name, (a, _) in given.items()}
        n = len(arrays["q"])
        for name, (_, size) in given.items():
            if arrays[name].shape != (n, size):
                shapes = ", ".join(f"{k} {a.shape}" for k, a in arrays.items())
                raise ShapeError(
                    f"{name} has shape {arrays[name].shape}, expected ({n}, {size}); given: {shapes}.", name=name,
                    value=arrays[name].shape, remedy=f"One row a sample; joints in the order {', '.join(self.joints)}.",
                )  # fmt: skip
        return arrays["q"], arrays["qd"], arrays["qdd"], arrays["tau"]


def friction_shape(kind: str, speed: Array, width: float) -> Array:
    """What a friction parameter is multiplied by."""
    if kind == "viscous":
        return speed
    if kind == "offset":
        return np.ones_like(speed)
    return np.sign(speed) if width <= 0 else np.clip(speed / width, -1.0, 1.0)


def torque_model(
    mechanism: Mechanism, rotors: Rotors = "given", friction: Friction = "given", width: float = 0.0
) -> TorqueModel:
    """The linear torque model of a mechanism, or of what has one as `mechanism`.

    rotors: as in base_parameters.  friction: columns for what the description gives ("given": damping and Coulomb
    friction that are not zero), all three kinds for every joint of one degree of freedom, none, or these kinds.  width:
    rad/s or m/s within which Coulomb friction is taken as linear in the speed.  Raises InputError when lengths or other
    geometry have no value.
    """
    mechanism = mechanism_of(mechanism)
    if not isinstance(width, (int, float)) or not 0.0 <= width < np.inf:
        raise NumberError(f"width is {width!r}.", name="width", value=repr(width), remedy="Give 0 or more, rad/s.")
    system = derive_system(mechanism)
    unknown = [name for name, value in system.parameters.items() if value is None]
    if unknown:
        raise InputError(
            f"Parameters without a value: {', '.join(unknown)}.", name=unknown[0],
            remedy="Give them with robot.with_parameters({...}); what is identified is inertia and friction.",
        )  # fmt: skip
    base = base_parameters(system, rotors)
    rows = full_rows(system, rotor_columns(system, rotors))
    refs = [row[c] for row in rows for c in base.columns]
    inputs = [system.input(name) for name in ("q", "qd", "qdd")]
    program = build_program(system.g, "base_regressor", inputs, [("Y", (system.nv, base.count), refs)])
    coordinates = system.k.coordinates
    single = {names[0]: j.name for j in mechanism.joints if len(names := joint_type(j).speeds(j)) == 1 and not j.mimic}
    joints = tuple(single.get(name, name) for name in coordinates.speeds)
    return TorqueModel(
        mechanism, base, friction_columns(system, friction), joints, coordinates.speeds, coordinates.names,
        coordinates.angles, width, rotors, compile_program(program),
    )  # fmt: skip


def friction_columns(system: System, friction: Friction) -> tuple[FrictionColumn, ...]:
    """Friction parameters joint by joint."""
    found = []
    speeds = system.k.coordinates.speeds
    values = system.k.mechanism.parameter_values
    for joint in system.k.mechanism.joints:
        names = joint_type(joint).speeds(joint)
        if joint.mimic is not None or len(names) != 1 or names[0] not in speeds:
            continue
        known = {
            "viscous": number(joint.damping, values), "coulomb": number(joint.friction, values), "offset": 0.0,
        }  # fmt: skip
        for kind in _kinds(joint, friction, known):
            found.append(FrictionColumn(f"{joint.name}.{kind}", joint.name, kind, speeds.index(names[0]), known[kind]))
    return tuple(found)


def _kinds(joint: Joint, friction: Friction, known: dict[str, float]) -> Sequence[str]:
    if friction == "none":
        return ()
    if friction == "all":
        return KINDS
    if friction == "given":
        return [kind for kind in KINDS if known[kind]]
    wrong = [kind for kind in friction if kind not in KINDS] if isinstance(friction, Iterable) else [friction]
    if isinstance(friction, str) or wrong:
        raise InputError(
            f"friction={friction!r} is not known.", name="friction", value=friction,
            remedy=f"Use 'given', 'all', 'none', or some of {', '.join(KINDS)}.",
        )  # fmt: skip
    return [kind for kind in KINDS if kind in friction]
