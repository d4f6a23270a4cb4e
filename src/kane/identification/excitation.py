"""Motions that show the parameters: Fourier series within all limits, of least condition number or most information.

Every trial motion fills its joints' position, speed and acceleration limits exactly (trial.py), so these need no
constraint; torques and workspace boxes enter as a penalty and are checked densely at the end, where the motion is made
smaller until it keeps them (Swevers et al. 1997; Park 2006).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from kane.equations.base_columns import full_rows, rotor_columns
from kane.equations.frames import frame_pose, node_poses
from kane.equations.system import derive_system
from kane.errors import ConvergenceError
from kane.graph.derivative import gradient
from kane.graph.program import Input, build_program
from kane.identification.asked import USUAL, Box, Search, check_boxes, check_model, check_search, check_series
from kane.identification.motion import FourierMotion, MotionLimits, check_limits, motion_limits
from kane.identification.torque_model import TorqueModel
from kane.identification.trial import Trials, even_variables, falling_variables, trials
from kane.native import compile_program

Array = np.ndarray[Any, np.dtype[Any]]
Objective = Literal["condition", "information"]
POWERS = (2.0, 5.0, 12.0)  # of the norms that smooth the extreme eigenvalues, round by round
RANDOM = 40  # motions to compare with
GAIN = 1e-3  # of the cost, for which a stopped descent is begun again
TRIED = 5  # of the best random motions are improved; the best of these to the end
PENALTY = 10.0
SOFT = 0.05  # of the lowest speed that limits leave: where Coulomb friction is linear during the search
SAMPLES = 10  # of a trial motion, a period of the fastest harmonic; 80 at least
HARMONICS = (20, 32)  # chosen between these
COARSE = 4  # the search begins with one harmonic in so many
FEWEST = 5  # harmonics to begin with
DENSE = 100  # points of the last checks a period of the fastest harmonic
MARGIN = 0.97  # of torque limits, aimed at in the search
SMALLER, TIMES = 0.93, 60  # a motion beyond its limits is made so much smaller so often at most
HOPELESS = 3e7  # condition numbers from here on are rounding
STEP = 1e-6  # of the differences that take boxes to coordinates


@dataclass(frozen=True, slots=True)
class Excitation:
    """A designed motion.

    condition: of its regressor.  random: condition numbers of random motions within the same limits, of this series and
    as large as the limits allow, their coefficients even between -1 and 1.  information: log det (W^T W) / k.  margins:
    for each limit the largest share of it that is used.
    """

    motion: FourierMotion
    condition: float
    random: tuple[float, ...]
    information: float
    margins: dict[str, float]
    evaluations: int

    def __repr__(self) -> str:
        return f"<Excitation: condition number {self.condition:.4g} of {self.motion!r}; see margins>"


@dataclass(frozen=True, slots=True)
class _Design:
    """What trial motions are made of and judged by."""

    model: TorqueModel
    trials: Trials
    objective: Objective
    boxes: tuple[Box, ...]
    positions: Callable[[Array], Array] | None
    x: Array
    reverse: Callable[..., tuple[Array, Array, Array]]
    power: float = POWERS[0]

    def final(self, motion: FourierMotion) -> tuple[float, float]:
        """Condition number and information at samples that are close and miss the moments of rest."""
        count = DENSE * self.trials.harmonics
        return quality(_gram(self.model.regressor(*motion(motion.times(count) + 0.5 * motion.period / count))))

    def judged(self, motion: FourierMotion) -> tuple[float, float, float]:
        """Condition number, information, penalty at the trial times."""
        q, qd, qdd = self.trials.states(motion)
        W = self.model.regressor(q, qd, qdd)
        condition, information = quality(_gram(W))
        return condition, information, self.penalty(q, W)[0]

    def penalty(self, q: Array, W: Array) -> tuple[float, Array, Array]:
        """Sum of squares of what exceeds torque limits and boxes, with its derivatives by W and by q."""
        bar, slope = np.zeros_like(W), np.zeros_like(q)
        total = 0.0
        effort = self.trials.limits.effort
        if np.isfinite(effort).any():
            tau, allowed = W @ self.x, MARGIN * effort
            over = _over(np.abs(tau) / allowed)
            total += float((over**2).sum())
            bar += (2.0 * over * np.sign(tau) / allowed)[..., None] * self.x
        if self.positions is not None:
            over = _over(box_use(self.boxes, self.positions(q)) / MARGIN)
            total += float((over**2).sum())
            if over.any():
                for j in range(q.shape[1]):
                    moved = q.copy()
                    moved[:, j] += STEP
                    change = _over(box_use(self.boxes, self.positions(moved)) / MARGIN) ** 2 - over**2
                    slope[:, j] = change.sum(axis=(1, 2)) / STEP
        return total, bar, slope

    def cost(self, p: Array) -> tuple[float, Array]:
        """ln of a smooth condition number, or minus the information, with the penalty; and its derivative by p.

        Smooth: p-norms of the eigenvalues and of their inverses for the largest and the inverse of the smallest one.
        """
        q, qd, qdd = self.trials.states(self.trials.motion(p))
        W = self.model.regressor(q, qd, qdd)
        values, V = np.linalg.eigh(_gram(W))
        values = np.maximum(values, 1e-14 * max(float(values[-1]), 1e-300))
        if self.objective == "condition":
            cost, slopes = _smooth_condition(values, self.power)
        else:
            cost, slopes = -float(np.log(values).mean()), -1.0 / (values * len(values))
        bar = (2.0 / len(W)) * (W @ ((V * slopes) @ V.T))
        penalty, more, by_q = self.penalty(q, W)
        gq, gqd, gqdd = self.pullback(q, qd, qdd, bar + PENALTY * more)
        return cost + PENALTY * penalty, self.trials.slopes(p, gq + PENALTY * by_q, gqd, gqdd)

    def pullback(self, q: Array, qd: Array, qdd: Array, bar: Array) -> tuple[Array, Array, Array]:
        """Derivatives by q, qd, qdd (samples, n) of the sum of bar * W, friction's columns included."""
        rigid = self.model.base.count
        gq, gqd, gqdd = self.reverse(q, qd, qdd, np.ascontiguousarray(bar[..., :rigid]).reshape(len(q), -1))
        for k, column in enumerate(self.model.friction, start=rigid):
            r = column.row
            if column.kind == "viscous":
                gqd[:, r] += bar[:, r, k]
            elif column.kind == "coulomb":
                gqd[:, r] += bar[:, r, k] * (np.abs(qd[:, r]) < self.model.width) / self.model.width
        return gq, gqd, gqdd


def _gram(W: Array) -> Array:
    rows = W.reshape(-1, W.shape[-1])
    return np.asarray(rows.T @ rows / len(W))


def _smooth_condition(values: Array, power: float) -> tuple[float, Array]:
    """(ln |values|_p + ln |1 / values|_p) / 2 and its derivative by the values; |.|_p near the largest for large p."""
    high = (values / values[-1]) ** power
    low = (values[0] / values) ** power
    cost = np.log(values[-1] / values[0]) + np.log(high.sum()) / power + np.log(low.sum()) / power
    slopes = (high / high.sum() - low / low.sum()) / values
    return 0.5 * float(cost), np.asarray(0.5 * slopes)


def _over(use: Array) -> Array:
    return np.maximum(use - 1.0, 0.0)


def quality(gram: Array) -> tuple[float, float]:
    """Condition number of W and ln det (W^T W) / k from W^T W."""
    values = np.linalg.eigvalsh(gram)
    values = np.maximum(values, 1e-15 * max(float(values[-1]), 1e-300))
    return float(np.sqrt(values[-1] / values[0])), float(np.log(values).mean())


def box_use(boxes: Sequence[Box], points: Array) -> Array:
    """How far from the middle of its box each point (m, boxes, 3) is, in half widths: at most 1 inside."""
    lower, upper = (np.array([getattr(b, side) for b in boxes], dtype=np.float64) for side in ("lower", "upper"))
    return np.asarray(np.abs(points - 0.5 * (lower + upper)) / (0.5 * (upper - lower)))


def frame_positions(model: TorqueModel, frames: Sequence[str]) -> Callable[[Array], Array]:
    """The function q (m, n) -> origins of frames (m, frames, 3) in N."""
    system = derive_system(model.mechanism)
    poses = node_poses(system.k)
    refs = [ref for frame in frames for ref in frame_pose(system.k, frame, poses)[1].position]
    program = build_program(system.g, "positions", [system.input("q")], [("p", (len(frames), 3), refs)])
    compiled = compile_program(program)
    return lambda q: np.asarray(compiled(q))


def exciting_motion(
    model: TorqueModel, series: tuple[float, int | None] = (20.0, None), objective: Objective = "condition",
    boxes: Sequence[Box] = (), limits: MotionLimits | None = None, rest: bool = True, search: Search = USUAL,
) -> Excitation:  # fmt: skip
    """A periodic motion whose regressor has the least condition number, or the most information.

    series: period (s) and number of harmonics (None: natural_harmonics).  limits: of the description by default
    (motion_limits); boxes: of the workspace. rest: the period starts and ends at rest.  Torques are those of the
    description's parameters.  Deterministic for a seed. Raises ConvergenceError when even the smallest motion breaks
    torque limits or boxes and when none within the limits shows all parameters, InputError for a series that leaves no
    motion and for limits, boxes or a search that cannot be meant.
    """
    from threadpoolctl import threadpool_limits

    check_model(model)
    check_search(objective, search)
    limits = motion_limits(model) if limits is None else limits
    check_limits(model.joints, limits)
    boxes = check_boxes(boxes)
    period, given = check_series(series, rest)
    harmonics = natural_harmonics(period, limits) if given is None else given
    positions = frame_positions(model, [b.frame for b in boxes]) if boxes else None
    x = np.nan_to_num(model.prior)
    exact = model
    model = replace(model, width=max(model.width, SOFT * _slowest(limits)))  # a step of friction would stop the search
    steps = sorted({min(harmonics, max(FEWEST, harmonics // COARSE)), harmonics})
    stages = [trials(model.joints, limits, (period, H), rest, max(80, SAMPLES * H)) for H in steps]
    design = _Design(model, stages[-1], objective, tuple(boxes), positions, x, reverse_regressor(model))
    rng = np.random.default_rng(search.seed)
    plain = [design.trials.motion(even_variables(model.nv, harmonics, rng)) for _ in range(RANDOM)]
    with threadpool_limits(1):  # matrices are small: threads make it slower, and sums depend on their number
        random = _random_conditions(replace(design, model=exact), plain)
        p, used = _searched(design, stages, search, rng)
        motion, margins = _kept(design, design.trials.motion(p))
        condition, information = replace(design, model=exact).final(motion)
    if condition > HOPELESS:
        raise ConvergenceError(
            f"A period of {period:.6g} s with {harmonics} harmonics within these limits does not show all parameters.",
            name="series", value=(period, harmonics), remedy="Change the period, more harmonics, or widen the limits.",
        )  # fmt: skip
    return Excitation(motion, condition, random, information, margins, used)


def _searched(design: _Design, stages: Sequence[Trials], search: Search, rng: Any) -> tuple[Array, int]:
    """The best variables, from series of few harmonics to those of all, and how many motions were judged."""
    first = replace(design, trials=stages[0])
    starts = [falling_variables(design.model.nv, stages[0].harmonics, rng) for _ in range(max(1, search.starts))]
    judged = [first.judged(stages[0].motion(p)) for p in starts]
    costs = [(np.log(c) if design.objective == "condition" else -i) + PENALTY * over for c, i, over in judged]
    best, used = [starts[i] for i in np.argsort(costs)[:TRIED]], len(starts)
    for stage in stages:
        p, more = _improved(replace(design, trials=stage), [stage.widened(p) for p in best], search.rounds)
        best, used = [p], used + more
    return best[0], used


def natural_harmonics(period: float, limits: MotionLimits) -> int:
    """Enough for each joint to reach its largest speed and acceleration at once, w = a / v: 20 at least, 32 at most."""
    fastest = float((limits.acceleration / limits.velocity).max())
    return int(np.clip(np.ceil(fastest * period / (2.0 * np.pi)), *HARMONICS))


def _random_conditions(design: _Design, motions: Sequence[FourierMotion]) -> tuple[float, ...]:
    """Condition numbers of motions made smaller until they keep all limits; those that cannot are left out."""
    found = []
    for motion in motions:
        try:
            kept, _ = _kept(design, motion)
        except ConvergenceError:
            continue
        found.append(design.final(kept)[0])
    return tuple(found)


def _slowest(limits: MotionLimits) -> float:
    """The lowest of the largest speeds that limits, accelerations and room leave."""
    room = 0.5 * (limits.upper - limits.lower)
    return float(np.minimum(limits.velocity, np.sqrt(limits.acceleration * room)).min())


def reverse_regressor(model: TorqueModel) -> Callable[..., tuple[Array, Array, Array]]:
    """The slopes by q, qd, qdd of the sum of bar (m, nv * nb) times the base regressor, as a function.

    The function takes (q, qd, qdd, bar).  One reverse sweep over the regressor's expressions, compiled.
    """
    system = derive_system(model.mechanism)
    g, s = system.g, system.k.symbols
    rows = full_rows(system, rotor_columns(system, model.rotors))
    entries = [row[c] for row in rows for c in model.base.columns]
    labels = tuple(f"bar{i + 1}" for i in range(len(entries)))
    weighted = g.sum(g.mul(g.symbol(label), e) for label, e in zip(labels, entries, strict=True) if e > 1)
    slopes = gradient(g, weighted, [*s.q, *s.u, *s.udot])
    n = system.nv
    outputs = [(name, (n,), slopes[i * n : i * n + n]) for i, name in enumerate(("q", "qd", "qdd"))]
    inputs = [*(system.input(name) for name in ("q", "qd", "qdd")), Input("bar", labels)]
    compiled: Callable[..., tuple[Array, Array, Array]] = compile_program(
        build_program(g, "reverse_regressor", inputs, outputs)
    )
    return compiled


def _improved(design: _Design, starts: Sequence[Array], rounds: int) -> tuple[Array, int]:
    """The best variables that rounds of L-BFGS, shared among the starts and the sharpnesses, lead to."""
    from scipy.optimize import minimize

    used = 0
    powers = POWERS if design.objective == "condition" else POWERS[:1]
    share = rounds // (len(starts) * len(powers))
    if rounds < 1:
        return starts[0], 0

    def descend(p: Array, power: float, count: int) -> tuple[float, Array]:
        """Rounds, begun again where they stop at an edge of the limits."""
        nonlocal used
        sharper = replace(design, power=power)
        cost = np.inf
        while count > 0:
            options = {"maxiter": count, "maxfun": 3 * count, "maxcor": 30}
            found = minimize(sharper.cost, p, jac=True, method="L-BFGS-B", options=options)
            used += int(found.nfev)
            count -= max(1, int(found.nit))
            p, gain, cost = np.asarray(found.x), cost - float(found.fun), float(found.fun)
            if gain < GAIN:
                break
        return cost, p

    ends = []
    for p in starts:
        for power in powers:
            cost, p = descend(p, power, max(1, share))
        ends.append((cost, p))
    return min(ends, key=lambda end: end[0])[1], used


def _kept(design: _Design, motion: FourierMotion) -> tuple[FourierMotion, dict[str, float]]:
    """The motion made smaller about its centre until torques and boxes hold at dense samples."""
    def used(of: FourierMotion) -> dict[str, float]:
        return shares(design.model, design.trials.limits, of, design.x, design.boxes, design.positions)

    margins = used(motion)
    if max(margins.values()) > 1.0:  # where the smallest is too large all are
        margins = used(_scaled(motion, SMALLER ** (TIMES - 1)))
        for _ in range(TIMES - 1 if max(margins.values()) <= 1.0 else 0):
            motion = _scaled(motion, SMALLER)
            margins = used(motion)
            if max(margins.values()) <= 1.0:
                break
    if max(margins.values()) <= 1.0:
        return motion, margins
    worst = max(margins, key=margins.__getitem__)
    raise ConvergenceError(
        f"No motion of this kind keeps {worst}: even a small one uses {margins[worst]:.3g} times what is allowed.",
        name=worst, value=margins[worst], remedy="Widen the limits or boxes, or place the robot differently.",
    )  # fmt: skip


def _scaled(motion: FourierMotion, factor: float) -> FourierMotion:
    """The motion with its amplitudes about the centre times a factor."""
    return replace(motion, sine=factor * motion.sine, cosine=factor * motion.cosine)


def shares(
    model: TorqueModel, limits: MotionLimits, motion: FourierMotion, x: Array, boxes: Sequence[Box] = (),
    positions: Callable[[Array], Array] | None = None,
) -> dict[str, float]:  # fmt: skip
    """For each limit the share that a motion uses (at most 1 is within it), between samples too.

    Positions, speeds and accelerations by the bound of their polynomial; torques and frames at DENSE samples a period
    of the fastest harmonic, with half of the largest change from one sample to the next added.
    """
    low, high, speed, acceleration = motion.bounds()
    middle, half = 0.5 * (limits.upper + limits.lower), 0.5 * (limits.upper - limits.lower)
    found = {
        "position": float((np.maximum(high - middle, middle - low) / half).max()),
        "velocity": float((speed / limits.velocity).max()),
        "acceleration": float((acceleration / limits.acceleration).max()),
    }
    q, qd, qdd = motion(motion.times(DENSE * motion.sine.shape[1]))
    if np.isfinite(limits.effort).any():
        tau = model.torque(q, qd, qdd, x)
        found["effort"] = float(((np.abs(tau).max(axis=0) + _between(tau)) / limits.effort).max())
    if boxes:
        place = positions or frame_positions(model, [b.frame for b in boxes])
        use = box_use(boxes, place(q)).reshape(len(q), -1)
        found["box"] = float((use.max(axis=0) + _between(use)).max())
    return found


def _between(values: Array) -> Array:
    """Half of the largest step between neighbouring samples of a period: what a smooth curve may add between them."""
    return np.asarray(0.5 * np.abs(np.diff(values, axis=0, append=values[:1])).max(axis=0))
