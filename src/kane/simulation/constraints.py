"""Motion under constraints: accelerations by Gauss's principle, projection onto the constraints, consistent starts.

M udot = F + Aᵀ lambda, A udot + gamma = 0.  With M = L Lᵀ, x = Lᵀ udot and B = A L^-T the motion is the x nearest to
L^-1 F that fulfils B x = -gamma (Udwadia and Kalaba 1992).  B's rank is found by a pivoted orthogonal factorisation of
Bᵀ, so redundant conditions and singular configurations need no special case.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kane.equations.approach import approached
from kane.errors import ConvergenceError, InputError
from kane.native.function import NativeFunction
from kane.native.load import Loaded
from kane.simulation.constrained_code import load_constrained
from kane.simulation.model import Layout

Array = np.ndarray[Any, np.dtype[np.float64]]
RANK = 1e-9  # relative size below which a direction counts as dependent
Places = tuple[tuple[int, int], ...]
START = 1e-9  # residual that a start may have
ROUNDS = 60  # of Newton's method for a start


def _dense(values: Array, places: Places, shape: tuple[int, int]) -> Array:
    made = np.zeros(shape)
    for value, (i, j) in zip(values, places, strict=True):
        made[i, j] = value
    return made


@dataclass(frozen=True, slots=True)
class Solved:
    """Accelerations with constraints: udot (n,), multipliers (m,), the conditions kept, the smallest relative pivot.

    Multipliers of dropped conditions are zero.
    """

    udot: Array
    multipliers: Array
    kept: Array
    dropped: Array
    pivot: float


def solve(M: Array, force: Array, A: Array, gamma: Array) -> Solved:
    """Accelerations and multipliers; conditions that depend on the others are dropped."""
    from scipy.linalg import lapack

    n, m = M.shape[0], A.shape[0]
    L, info = lapack.dpotrf(M, lower=1)
    if info:
        raise InputError(
            f"The mass matrix is not positive definite (row {info}).", name="M", remedy="Give the bodies mass."
        )
    free, _ = lapack.dtrtrs(L, force, lower=1)
    Bt, _ = lapack.dtrtrs(L, A.T, lower=1)  # (n, m)
    qr, pivots, tau, _, _ = lapack.dgeqp3(Bt)
    order = pivots - 1
    diagonal = np.abs(np.diagonal(qr))
    rank = int(np.sum(diagonal > RANK * diagonal[0])) if len(diagonal) else 0
    Q, _, _ = lapack.dorgqr(qr[:, : min(n, m)], tau)
    Q1, R = Q[:, :rank], qr[:rank, :rank]
    kept = order[:rank]
    along, _ = lapack.dtrtrs(R, -gamma[kept], lower=0, trans=1)
    push = along - Q1.T @ free
    udot, _ = lapack.dtrtrs(L, free + Q1 @ push, lower=1, trans=1)
    forces = np.zeros(m)
    forces[kept], _ = lapack.dtrtrs(R, push, lower=0)
    pivot = float(diagonal[rank - 1] / diagonal[0]) if rank else 1.0
    return Solved(udot, forces, kept, order[rank:], pivot)


def least_change(J: Array, residual: Array) -> Array:
    """The smallest step with J step = -residual, dependent rows left out."""
    from scipy.linalg import lapack

    if not J.size:  # no condition, or nothing that may change
        return np.zeros(J.shape[1])
    qr, pivots, tau, _, _ = lapack.dgeqp3(J.T)
    diagonal = np.abs(np.diagonal(qr))
    rank = int(np.sum(diagonal > RANK * diagonal[0])) if diagonal[0] > 0 else 0
    Q, _, _ = lapack.dorgqr(qr[:, : min(J.shape)], tau)
    x, _ = lapack.dtrtrs(qr[:rank, :rank], -residual[pivots[:rank] - 1], lower=0, trans=1)
    return np.asarray(Q[:, :rank] @ x)


@dataclass(frozen=True, slots=True)
class Constraints:
    """The constraints of a model with their compiled functions.

    places: (row, column) of the elements of M (lower half), A and the slope of phi that are not zero, in the order of
    the functions' outputs; names (m) of all conditions, held: of the holonomic ones.
    """

    names: tuple[str, ...]
    held: tuple[str, ...]
    layout: Layout
    terms: NativeFunction
    positions: NativeFunction
    quaternions: tuple[int, ...] = ()
    places: tuple[Places, Places, Places] = ((), (), ())
    code: Loaded = field(default_factory=load_constrained, repr=False, compare=False)

    def evaluate(self, t: float, y: Array, f: Array) -> tuple[Array, ...]:
        """qdot, M, force, A, gamma, rates, rest, powers, inertia power."""
        qdot, M, force, A, *others = self.terms(y, np.array([t]), np.ascontiguousarray(f))
        lower = _dense(M, self.places[0], (len(force), len(force)))
        whole = lower + lower.T - np.diag(np.diag(lower))
        return (qdot, whole, force, _dense(A, self.places[1], (len(self.names), len(force))), *others)

    def configuration(self, t: float, y: Array) -> tuple[Array, Array]:
        """phi (held,) and its slope by q (held, nq)."""
        phi, slope = self.positions(y, np.array([t]), self._idle())
        return phi, _dense(slope, self.places[2], (len(self.held), self.layout.nq))

    def slope(self, t: float, y: Array, f: Array) -> Array:
        """ydot."""
        qdot, M, force, A, gamma, _, rest, powers, by_udot = self.evaluate(t, y, f)
        if not (np.isfinite(M).all() and np.isfinite(force).all() and np.isfinite(A).all()):
            return np.full(self.layout.size, np.nan)
        made = solve(M, force, A, gamma)
        powers = np.array(powers)
        powers[2] += by_udot @ made.udot - made.multipliers @ rest
        return np.concatenate([qdot, made.udot, powers])

    def multipliers(self, t: float, y: Array, f: Array) -> Array:
        """Multipliers (m,), NaN where redundant conditions leave them undetermined."""
        _, M, force, A, gamma, _, _, _, _ = self.evaluate(t, y, f)
        made = solve(M, force, A, gamma)
        result = made.multipliers.copy()
        if len(made.dropped):
            _, sizes, vt = np.linalg.svd(A.T)
            rank = int(np.sum(sizes > RANK * sizes[0]))
            result[np.abs(vt[rank:]).max(axis=0, initial=0.0) > 1e-8] = np.nan
        return result

    def _whole(self, q: Array, u: Array) -> Array:
        return np.concatenate([q, u, np.zeros(len(self.layout.works))])

    def _idle(self) -> Array:
        return np.zeros(len(self.layout.inputs))

    def residuals(self, t: Array, y: Array, f: Array) -> tuple[Array, Array]:
        """Residuals of the configuration (..., held) and of the speeds (..., m).

        t (..., 1), y (..., n), f (..., inputs).
        """
        phi, _ = self.positions(y, t, f)
        return phi, self.terms(y, t, f)[5]

    def redundant(self, t: float, y: Array) -> tuple[str, ...]:
        """Names of conditions that depend on the others at a state."""
        _, M, force, A, gamma, _, _, _, _ = self.evaluate(t, y, self._idle())
        return tuple(self.names[k] for k in sorted(solve(M, force, A, gamma).dropped))

    def project(self, t: float, y: Array) -> Array:
        """The nearest state on the constraints: coordinates by Newton's method, then speeds."""
        nq, n = self.layout.nq, self.layout.nq + self.layout.nu
        q = self.nearest_configuration(t, y[:nq], np.arange(nq), 6)
        u = self.nearest_speeds(t, q, y[nq:n], np.arange(n - nq), 4)
        return np.concatenate([q, u, y[n:]])

    def nearest_configuration(self, t: float, q: Array, free: Any, limit: int) -> Array:
        """Newton's method with least changes of the free coordinates."""
        q, u = q.copy(), np.zeros(self.layout.nu)
        if not self.held:
            return q
        before = np.inf
        for _ in range(limit):
            phi, slope = self.configuration(t, self._whole(q, u))
            size = float(np.abs(phi).max(initial=0.0))
            if size <= 4e-16 * (1 + float(np.abs(q).max())) or (size >= 0.5 * before and size < 1e-13):
                break
            before = size
            q = self._moved(q, free, least_change(slope[:, free], phi))
        return q

    def assembled(self, t: float, q: Array, free: Any) -> Array:
        """A configuration near a guess: damped steps (equations/approach.py), then Newton's method."""
        u = np.zeros(self.layout.nu)

        def conditions(q: Array) -> tuple[Array, Array]:
            phi, slope = self.configuration(t, self._whole(q, u))
            return phi, slope[:, free]

        near = approached(conditions, lambda q, step: self._moved(q, free, step), q) if self.held else q
        return self.nearest_configuration(t, near, free, ROUNDS)

    def _moved(self, q: Array, free: Any, step: Array) -> Array:
        q = q.copy()
        q[free] += step
        for k in self.quaternions:
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
        return q

    def nearest_speeds(self, t: float, q: Array, u: Array, free: Any, limit: int) -> Array:
        """Speeds with A u + b = 0; more than one step where the conditions are not linear, or rounding is left."""
        u, before = u.copy(), np.inf
        for _ in range(limit):
            _, _, _, A, _, rates, _, _, _ = self.evaluate(t, self._whole(q, u), self._idle())
            size = float(np.abs(rates).max(initial=0.0))
            if size <= 1e-15 * (1 + float(np.abs(u).max(initial=0.0))) or (size >= 0.5 * before and size < 1e-12):
                break
            before = size
            u[free] += least_change(A[:, free], rates)
        return u

    def start(
        self, t: float, q: Array, u: Array, how: str, given: tuple[Any, Any] | None = None
    ) -> tuple[Array, Array]:
        """The start, if it fulfils the constraints, or the corrected one.

        given: which coordinates and speeds are fixed (masks), all by default; the others are solved for.  Where all are
        fixed and off, how = "correct" takes the nearest; otherwise raises InputError with it as `value`.  Raises
        ConvergenceError when none is near.
        """
        if self._worst(t, q, u) is None:
            return q, u
        fixed = given if given is not None else (np.ones(len(q), bool), np.ones(len(u), bool))
        free_q, free_u = (np.ones(len(x), bool) if x.all() else ~x for x in fixed)
        q1 = self.assembled(t, q, np.flatnonzero(free_q))
        off = self._worst(t, q if fixed[0].all() else q1, u)
        u1 = self.nearest_speeds(t, q1, u, np.flatnonzero(free_u), 20)
        left = self._worst(t, q1, u1)
        if left is not None:
            raise ConvergenceError(
                f"No state near the start fulfils constraint {left[0]!r} (residual {left[1]:.3g}).", name=left[0],
                value=left[1], remedy="Give a start nearer to an assembled one, or fix fewer coordinates and speeds.",
            )  # fmt: skip
        if how == "refuse" and off is not None and fixed[off[2] == "speed"].all():
            raise InputError(
                f"The start is off constraint {off[0]!r}: its {off[2]} residual is {off[1]:.3g}.",
                name=off[0],
                value=(q1, u1),
                remedy=f'A consistent start nearby is q = {_text(q1)}, u = {_text(u1)}; start="correct" takes it.',
            )
        return q1, u1

    def _worst(self, t: float, q: Array, u: Array) -> tuple[str, float, str] | None:
        phi, rates = self.residuals(np.array([t]), self._whole(q, u), self._idle())
        for kind, values, names in (("configuration", phi, self.held), ("speed", rates, self.names)):
            if len(values) and not np.abs(values).max() <= START:
                k = int(np.argmax(np.abs(values)))
                return names[k], float(values[k]), kind
        return None


def _text(x: Array) -> str:
    return "[" + ", ".join(f"{v:.12g}" for v in x) + "]"
