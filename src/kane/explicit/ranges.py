"""Ranges of motion and reference torques that an abbreviation is certified for; by default the robot's limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kane.errors import InputError, ShapeError, UnknownNameError
from kane.explicit.bounds import Box
from kane.explicit.evaluate import Waves, constant_values, expression_value, inverse_dynamics
from kane.explicit.model import ExplicitModel
from kane.mechanism.joints import joint_type
from kane.mechanism.model import Limits

Values = Mapping[str, float] | Sequence[float]


@dataclass(frozen=True, slots=True)
class Ranges:
    """q between lower and upper (rad, m), greatest |qd| and |qdd|, and reference torques (N m, N), all (n)."""

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    speed: tuple[float, ...]
    acceleration: tuple[float, ...]
    reference: tuple[float, ...]

    @property
    def box(self) -> Box:
        return Box(*(np.array(x) for x in (self.lower, self.upper, self.speed, self.acceleration)))

    def describe(self, i: int) -> str:
        """The ranges of one joint as text."""
        return (
            f"q in [{self.lower[i]:.6g}, {self.upper[i]:.6g}], |qd| <= {self.speed[i]:.6g}, "
            f"|qdd| <= {self.acceleration[i]:.6g}"
        )


@dataclass(frozen=True, slots=True)
class Positions:
    """q between lower and upper (rad, m), both (n); infinite where a slide has no range."""

    lower: tuple[float, ...]
    upper: tuple[float, ...]


def positions(model: ExplicitModel, whole_turns: bool = False) -> Positions:
    """The limits of the description; without limits angles take the whole turn, and slides have no range.

    whole_turns: angles take the whole turn in any case.
    """
    ends = [(-np.pi, np.pi) if turn else (-np.inf, np.inf) for turn in model.turns]
    for i, x in enumerate(_limits(model)):
        if x.lower is not None and x.upper is not None and not (model.turns[i] and whole_turns):
            ends[i] = x.lower, x.upper
    return Positions(tuple(a for a, _ in ends), tuple(b for _, b in ends))


def default_ranges(
    model: ExplicitModel,
    *,
    speed: Values | None = None,
    acceleration: Values | None = None,
    reference: Values | None = None,
    lower: Values | None = None,
    upper: Values | None = None,
) -> Ranges:
    """Ranges of a model: what is given, else the robot's limits.

    Angles: the joint's limits, else the whole turn.  Speeds and reference torques: the joint's velocity and effort.
    Accelerations: the joint's, else reference torque over the smallest value of a_ii .
    Raises InputError naming the joint when a limit is neither given nor in the description.
    """
    limits = _limits(model)
    full = [(x.lower, x.upper) if x.lower is not None and x.upper is not None else (-np.pi, np.pi) for x in limits]
    for i, x in enumerate(limits):
        told = all(_gives(given, model.coordinates[i]) for given in (lower, upper))
        if not model.turns[i] and (x.lower is None or x.upper is None) and not told:
            raise _missing(model, i, "range", "lower= and upper=")
    low = _array(model, lower, [a for a, _ in full], "lower")
    high = _array(model, upper, [b for _, b in full], "upper")
    rates = _array(model, speed, [x.velocity for x in limits], "speed")
    torques = _array(model, reference, [x.effort for x in limits], "reference")
    partial = Ranges(low, high, rates, (0.0,) * model.n, torques)
    smallest = smallest_diagonal(model, partial)
    own = [x.acceleration if x.acceleration is not None else torques[i] / smallest[i] for i, x in enumerate(limits)]
    return replace(partial, acceleration=_array(model, acceleration, own, "acceleration"))


def _gives(values: Values | None, name: str) -> bool:
    return name in values if isinstance(values, Mapping) else values is not None


def _limits(model: ExplicitModel) -> list[Limits]:
    result = [Limits() for _ in model.coordinates]
    for joint in model.mechanism.joints:
        if joint.mimic is None:
            for name in joint_type(joint).coordinates(joint):
                result[model.coordinates.index(name)] = joint.limits
    return result


def _array(model: ExplicitModel, given: Values | None, default: Sequence[float | None], what: str) -> tuple[float, ...]:
    values = list(default)
    if isinstance(given, Mapping):
        for name, number in given.items():
            if name not in model.coordinates:
                known = ", ".join(model.coordinates)
                raise UnknownNameError(f"{what}: there is no coordinate {name!r}; there are: {known}.", name=name)
            values[model.coordinates.index(name)] = float(number)
    elif given is not None:
        if len(given) != model.n:
            raise ShapeError(f"{what} has {len(given)} values, the robot has {model.n} coordinates.", name=what)
        values = [float(x) for x in given]
    result = []
    for i, value in enumerate(values):
        if value is None or not np.isfinite(value):
            raise _missing(model, i, what, f"{what}=")
        result.append(float(value))
    return tuple(result)


def _missing(model: ExplicitModel, i: int, what: str, flag: str) -> InputError:
    name = model.coordinates[i]
    return InputError(
        f"The description gives no {what} for {name!r}, and a certificate needs one.",
        name=name,
        remedy=f"Give it with {flag}, or add the limit to the description.",
    )


def smallest_diagonal(model: ExplicitModel, ranges: Ranges) -> tuple[float, ...]:
    """The smallest value of each a_ii over the range of q: a grid of the angles, then the best places refined."""
    constants = constant_values(model)
    box = ranges.box
    result = []
    for i in range(model.n):
        used = sorted({k for t in model.A[i][i] for angle, _, _ in t.factors for k, v in enumerate(angle) if v})
        steps = max(3, min(25, int(60_000 ** (1 / max(1, len(used))))))
        axes = [np.linspace(box.lower[k], box.upper[k], steps) if k in used else np.zeros(1) for k in range(model.n)]
        points = np.stack([m.ravel() for m in np.meshgrid(*axes, indexing="ij")], axis=-1)
        step = np.array([(box.upper[k] - box.lower[k]) / (steps - 1) if k in used else 0.0 for k in range(model.n)])
        for _ in range(60):
            value = expression_value(model.A[i][i], constants, Waves(points))
            best = points[np.argsort(value, kind="stable")[:64]]
            moves = np.array([(k, sign) for k in used for sign in (-1, 1)]).reshape(-1, 2)
            shifts = np.zeros((len(moves) + 1, model.n))
            for row, (k, sign) in enumerate(moves):
                shifts[row + 1, k] = sign * step[k] / 2
            points = np.clip((best[:, None, :] + shifts[None, :, :]).reshape(-1, model.n), box.lower, box.upper)
            step = step * 0.8
        result.append(float(value.min()))
    return tuple(result)


ASSUMED_SLIDE, ASSUMED_SPEED, ASSUMED_ACCELERATION = 0.5, (1.0, 2.0), (2.0, 5.0)  # m; of slides, of turns
_STATES = 2_000


def assumed_ranges(model: ExplicitModel) -> tuple[Ranges, str]:
    """Ranges for looking at a model: default_ranges, with values made up for missing limits; and which are made up.

    Missing: slides move within 0.5 m to each side; |qd| up to 2 rad/s or 1 m/s, |qdd| up to 5 rad/s^2 or 2 m/s^2; the
    reference torque is the greatest found at 2,000 states of these ranges.
    """
    limits, turns = _limits(model), model.turns
    bounded = [t or (x.lower is not None and x.upper is not None) for x, t in zip(limits, turns, strict=True)]
    own = [(x.lower, x.upper) if x.lower is not None and x.upper is not None else None for x in limits]
    reach = [np.pi if t else ASSUMED_SLIDE for t in turns]
    low = [x[0] if x is not None else -r for x, r in zip(own, reach, strict=True)]
    high = [x[1] if x is not None else r for x, r in zip(own, reach, strict=True)]
    known = [[_finite(getattr(x, what)) for x in limits] for what in ("velocity", "acceleration", "effort")]
    speed = [x if x is not None else ASSUMED_SPEED[t] for x, t in zip(known[0], turns, strict=True)]
    open_ = [a is None and e is None for a, e in zip(known[1], known[2], strict=True)]
    rate = [ASSUMED_ACCELERATION[t] if o else a for o, a, t in zip(open_, known[1], turns, strict=True)]
    effort = known[2]
    if None in effort:
        random = np.random.default_rng(1)
        q = random.uniform(low, high, size=(_STATES, model.n))
        qd = np.array(speed) * random.choice([-1.0, 1.0], size=q.shape)
        fast = [x if x is not None else ASSUMED_ACCELERATION[t] for x, t in zip(rate, turns, strict=True)]
        qdd = np.array(fast) * random.choice([-1.0, 1.0], size=q.shape)
        greatest = np.abs(inverse_dynamics(model, q, qd, qdd)).max(axis=0)
        effort = [float(f"{g:.3g}") if e is None else e for e, g in zip(effort, greatest, strict=True)]
    named = dict(zip(model.coordinates, rate, strict=True))
    accelerations = {name: x for name, x in named.items() if x is not None}
    made = default_ranges(model, speed=speed, acceleration=accelerations, reference=effort, lower=low, upper=high)  # type: ignore[arg-type]
    missing = {
        "the range of slides": not all(bounded), "speeds": None in known[0], "accelerations": any(open_),
        "torques": None in known[2],
    }  # fmt: skip
    words = [word for word, absent in missing.items() if absent]
    if not words:
        return made, ""
    return made, (
        f"The description gives no limits of {', '.join(words)}: made-up ones are used here (slides ±0.5 m, 2 rad/s or "
        "1 m/s, 5 rad/s² or 2 m/s², the greatest torque found), and what is proved holds for those."
    )


def _finite(x: float | None) -> float | None:
    return float(x) if x is not None and np.isfinite(x) else None
