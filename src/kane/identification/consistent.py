"""Physically consistent parameters: bodies that exist, by a quadratic program over 4x4 pseudo-inertias (clarabel).

Unknown are y, the change of each body in its own prior's size: J = L (1 + Y) L^T with J0 = L L^T.  Minimised is |R x -
z|^2 / 2 + weight |y|^2 / 2 with x = K pi(y), where 1 + Y is positive definite for every body; rotor inertia, viscous
and Coulomb friction are not negative.  |Y| is the distance of positive definite matrices to second order at the prior
(Lee, Wensing and Park 2020).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane.errors import ConvergenceError, MissingExtraError, install
from kane.identification.pseudo import metric_factors, parameters_of, smat, svec
from kane.identification.torque_model import TorqueModel

Array = np.ndarray[Any, np.dtype[Any]]
MARGIN = 1e-6  # least eigenvalue of 1 + Y: strictly a body
PRIOR = 1e-2  # weight of the prior against a sum of squares in units of the noise
DEVIATIONS = 3.0  # by which a parameter may be below zero without a word
POSSIBLE = 1e-5  # what a body may lack of positive definiteness, in its own size, before it is called impossible


@dataclass(frozen=True, slots=True)
class Consistent:
    """Full parameters of real bodies, with the base parameters they have.

    pi (n_full,) in the order of base.full; friction (nf,); x (k,) = (K pi, friction).  distance: |Y| of each body: how
    far it is from the prior, in its own size.
    """

    full: Array
    friction: Array
    x: Array
    distance: dict[str, float]


@dataclass(frozen=True, slots=True)
class _Coordinates:
    """pi = start + T y and friction = start + T y, one affine map for all; bodies: how many y come in tens."""

    start: Array
    T: Array
    bodies: int
    links: tuple[str, ...]
    bounded: tuple[int, ...]  # places in pi that must not be negative


def _coordinates(model: TorqueModel, guess: Array | None = None) -> _Coordinates:
    base = model.base
    n_full, nf = len(base.full), len(model.friction)
    pi0 = np.nan_to_num(np.array([*base.full_values, *(c.value for c in model.friction)]))
    bodies = sum(not name.endswith((".Im", ".J")) for name in base.full) // 10
    T = np.zeros((n_full + nf, n_full + nf))
    start = pi0.copy()
    for b, L in enumerate(metric_factors(pi0[: 10 * bodies].reshape(bodies, 10)) if bodies else []):
        at = slice(10 * b, 10 * b + 10)
        start[at] = parameters_of(L @ L.T)
        for c in range(10):
            T[at, 10 * b + c] = parameters_of(L @ smat(np.eye(10)[c]) @ L.T)
    usual = float(np.median(np.abs(pi0[10 * bodies : n_full]))) if n_full > 10 * bodies else 0.0
    for i in range(10 * bodies, n_full + nf):
        own = abs(pi0[i])
        if guess is not None and i >= n_full:
            own = max(own, abs(float(guess[i - n_full])))
        T[i, i] = own or usual or 0.1
    bounded = [i for i in range(10 * bodies, n_full)]
    bounded += [n_full + i for i, c in enumerate(model.friction) if c.kind != "offset"]
    links = tuple(base.full[10 * b].rpartition(".")[0] for b in range(bodies))
    return _Coordinates(start, T, bodies, links, tuple(bounded))


def _to_base(model: TorqueModel) -> Array:
    """x = K (pi, friction)."""
    K = model.base.array(model.mechanism.parameter_values)
    nf = len(model.friction)
    result = np.zeros((K.shape[0] + nf, K.shape[1] + nf))
    result[: K.shape[0], : K.shape[1]] = K
    result[K.shape[0] :, K.shape[1] :] = np.eye(nf)
    return result


def consistent_fit(model: TorqueModel, factor: Array, weight: float = PRIOR, guess: Array | None = None) -> Consistent:
    """The real bodies that fit best: factor (k, k + 1) of [W | tau] in units of the noise; weight: of the prior.

    guess: estimate of x, for the scale of friction.  Raises MissingExtraError without clarabel, ConvergenceError when
    it fails.
    """
    k = len(model.names)
    c = _coordinates(model, None if guess is None else guess[model.base.count :])
    K = _to_base(model)
    A = factor[:k, :k] @ K @ c.T
    z = factor[:k, k] - factor[:k, :k] @ (K @ c.start)
    n = A.shape[1]
    P = A.T @ A + weight * np.eye(n)
    y = _conic(P, -A.T @ z, c, MARGIN)
    return _made(model, c, K, y)


def nearest_consistent(model: TorqueModel, x: Array) -> Consistent | None:
    """The full set nearest to the prior with exactly these base parameters, or None when no real bodies have them."""
    c = _coordinates(model, x[model.base.count :])
    K = _to_base(model)
    E, rest = K @ c.T, x - K @ c.start
    y = _conic(np.eye(E.shape[1]), np.zeros(E.shape[1]), c, MARGIN, (E, rest), feasible=False)
    return None if y is None else _made(model, c, K, y)


def beyond_deviation(model: TorqueModel, x: Array, deviations: Array, lacking: dict[str, float]) -> dict[str, float]:
    """Of what is lacking the bodies, and the parameters that are negative by more than DEVIATIONS of their own.

    A friction below zero by less than that may well be a small one above.
    """
    warranted = dict(zip(model.names, DEVIATIONS * deviations, strict=True))
    values = dict(zip(model.names, x, strict=True))
    return {n: t for n, t in lacking.items() if n not in values or -values[n] > warranted[n]}


def impossible_bodies(model: TorqueModel, x: Array) -> dict[str, float]:
    """Links (or friction parameters) that no real body can serve with base parameters x, and how much is lacking.

    What is lacking is in the body's own size.  Minimises the sum of t over 1 + Y + t 1 positive semidefinite for all
    bodies, K pi = x.  Empty when x is possible.
    """
    c = _coordinates(model, x[model.base.count :])
    K = _to_base(model)
    n, nt = c.T.shape[1], c.bodies + len(c.bounded)
    E = np.hstack([K @ c.T, np.zeros((len(K), nt))])
    q = np.concatenate([np.zeros(n), np.ones(nt)])
    P = np.diag(np.concatenate([np.full(n, 1e-9), np.zeros(nt)]))
    y = _conic(P, q, c, 0.0, (E, x - K @ c.start), slack=nt)
    assert y is not None
    names = (*c.links, *((*model.base.full, *(f.name for f in model.friction))[i] for i in c.bounded))
    return {name: float(t) for name, t in zip(names, y[n:], strict=True) if t > POSSIBLE}


def _made(model: TorqueModel, c: _Coordinates, K: Array, y: Array | None) -> Consistent:
    assert y is not None
    everything = c.start + c.T @ y
    for i in c.bounded:
        everything[i] = max(everything[i], 0.0)
    n = len(model.base.full)
    distance = {link: float(np.linalg.norm(y[10 * b : 10 * b + 10])) for b, link in enumerate(c.links)}
    return Consistent(everything[:n], everything[n:], K @ everything, distance)


def _conic(
    P: Array, q: Array, c: _Coordinates, margin: float, equal: tuple[Array, Array] | None = None, slack: int = 0,
    feasible: bool = True,
) -> Array | None:  # fmt: skip
    """min y P y / 2 + q y with 1 + Y_b (+ t_b 1) >= margin, bounded parameters (+ t) >= 0 and E y = e.

    The last `slack` unknowns are t >= 0, one a body and one a bounded parameter.  None when infeasible and `feasible`
    is False.
    """
    clarabel, sparse = _solver()
    n = len(q)
    first = n - slack
    rows, right, cones = [], [], []
    if equal is not None:
        size = np.linalg.norm(equal[0], axis=1)
        size[size == 0] = 1.0
        rows.append(equal[0] / size[:, None])
        right.append(equal[1] / size)
        cones.append(clarabel.ZeroConeT(len(size)))
    linear = np.zeros((len(c.bounded) + slack, n))
    bound = np.zeros(len(linear))
    for k, i in enumerate(c.bounded):
        linear[k, :first] = -c.T[i] / np.abs(c.T[i]).max()
        bound[k] = c.start[i] / np.abs(c.T[i]).max()
        if slack:
            linear[k, first + c.bodies + k] = -1.0
    for k in range(slack):
        linear[len(c.bounded) + k, first + k] = -1.0
    if len(linear):
        rows.append(linear)
        right.append(bound)
        cones.append(clarabel.NonnegativeConeT(len(linear)))
    unit = svec(np.eye(4))
    for b in range(c.bodies):
        block = np.zeros((10, n))
        block[:, 10 * b : 10 * b + 10] = -np.eye(10)
        if slack:
            block[:, first + b] = -unit
        rows.append(block)
        right.append((1.0 - margin) * unit)
        cones.append(clarabel.PSDTriangleConeT(4))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-9
    size_P = max(1.0, float(np.abs(P).max(initial=0.0)))
    upper = sparse.csc_matrix(np.triu(P / size_P))
    solver = clarabel.DefaultSolver(
        upper, q / size_P, sparse.csc_matrix(np.vstack(rows)), np.concatenate(right), cones, settings
    )
    answer = solver.solve()
    status = str(answer.status)
    if status in ("Solved", "AlmostSolved"):
        return np.array(answer.x)
    if not feasible and "Infeasible" in status:
        return None
    if not feasible:
        return None
    raise ConvergenceError(
        f"The fit of real bodies ended with {status!r}.", value=status,
        remedy="Check units and signs of the log, or raise the weight of the prior.",
    )  # fmt: skip


def _solver() -> tuple[Any, Any]:
    try:
        import clarabel
    except ImportError as error:
        raise MissingExtraError(
            "The fit of real bodies needs clarabel.",
            name="clarabel",
            remedy=install("identify"),
        ) from error
    from scipy import sparse

    return clarabel, sparse


def lacking(names: Sequence[str], amounts: dict[str, float]) -> str:
    """Text for a warning."""
    return ", ".join(f"{name} ({amounts[name]:.2g} of its size)" for name in names)
