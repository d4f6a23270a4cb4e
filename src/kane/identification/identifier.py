"""Identifier: parameters of a robot from logs, in the manners of scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from kane.equations.base_columns import Rotors
from kane.errors import ConvergenceError, InputError, KaneError, MissingExtraError, UnsupportedError
from kane.identification.asked import check_model, is_real
from kane.identification.checks import broken_samples, check_log, moved, refuse
from kane.identification.consistent import (
    PRIOR,
    Consistent,
    beyond_deviation,
    consistent_fit,
    impossible_bodies,
    nearest_consistent,
)
from kane.identification.estimate import (
    Estimate,
    Method,
    chunks_of,
    estimate,
    model_factors,
    require_samples,
    robust_estimate,
)
from kane.identification.factors import Factors, chunk_factors, merged, triangle
from kane.identification.finding import Finding
from kane.identification.stream import Watch, plain_factors, raw_factors, raw_rows
from kane.identification.torque_model import Friction, TorqueModel, torque_model
from kane.identification.write_back import with_parameters
from kane.mechanism.given import mechanism_of, real_array
from kane.mechanism.model import Mechanism

Array = np.ndarray[Any, np.dtype[Any]]
Rows = tuple[Array, Array]
MANY = 2000  # samples from which noise is taken as correlated in time when nobody says


class IdentificationWarning(UserWarning):
    """Something about a log or an estimate that its user has to know."""


class Identifier:
    """Base parameters, rotor inertia and friction by least squares on tau = W x.

    robot: a Mechanism, or what has one as `mechanism`.  rotors: "given", "all", "none".  friction: "given", "all",
    "none" or kinds ("viscous", "coulomb", "offset"). method: "ols", "wls" (each joint by its noise), "irls" (also
    against outliers). coulomb_width: speed within which Coulomb friction is linear.  correlated: deviations allow for
    noise that is correlated in time (None: for 2000 samples and more).  consistent: table, predictions, mechanism are
    those of the fit of real bodies, which `prior_weight` holds near the description.  accept: kinds of findings not to
    refuse.

    Learned: x_ (the parameters that are told, used and written: of real bodies when those were asked for, else coef_),
    residual_ (deviation of each joint's torques from those of x_); of least squares coef_, coef_std_, names_,
    formulas_, correlation_, covariance_, sigma_ (residual deviation of each joint), condition_, scaled_condition_,
    unknown_ (parameters that this motion does not determine, and why); findings_, warnings_, impossible_ (bodies that
    least squares makes unreal, and friction and rotors below zero by more than three deviations; None where that was
    not checked: without clarabel), consistent_, n_samples_.
    """

    def __init__(  # noqa: PLR0913  (scikit-learn: every setting is an argument here)
        self, robot: Any, *, rotors: Rotors = "given", friction: Friction = "given", method: Method = "ols",
        coulomb_width: float = 0.0, correlated: bool | None = None, consistent: bool = False,
        prior_weight: float = PRIOR, accept: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.robot, self.rotors, self.friction, self.method = robot, rotors, friction, method
        self.coulomb_width, self.correlated, self.consistent = coulomb_width, correlated, consistent
        self.prior_weight, self.accept = prior_weight, accept
        self._model: TorqueModel | None = None

    _SETTINGS = (
        "robot", "rotors", "friction", "method", "coulomb_width", "correlated", "consistent", "prior_weight", "accept",
    )  # fmt: skip

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name."""
        return {name: getattr(self, name) for name in self._SETTINGS}

    def set_params(self, **settings: Any) -> Identifier:
        """Change settings; returns self."""
        for name, value in settings.items():
            if name not in self._SETTINGS:
                raise UnsupportedError(
                    f"Identifier has no setting {name!r}.", name=name, remedy=f"There are {', '.join(self._SETTINGS)}."
                )
            setattr(self, name, value)
        self._model = None
        return self

    @property
    def model(self) -> TorqueModel:
        """The linear model; derived and compiled at its first use.  Raises InputError for settings that are none."""
        self._check_settings()
        if self._model is None:
            mechanism = mechanism_of(self.robot)
            made = torque_model(mechanism, self.rotors, self.friction, self.coulomb_width)
            check_model(made)
            self._model = made
        return self._model

    def _check_settings(self) -> None:
        accept = self.accept
        right = {
            "method": (self.method in ("ols", "wls", "irls"), "Use 'ols', 'wls' or 'irls'."),
            "correlated": (self.correlated is None or isinstance(self.correlated, (bool, np.bool_)), "None or a bool."),
            "consistent": (isinstance(self.consistent, (bool, np.bool_)), "Give True or False."),
            "prior_weight": (is_real(self.prior_weight) and self.prior_weight >= 0, "Give a number, 0 or more."),
            "accept": (
                isinstance(accept, (list, tuple, set, frozenset)) and all(isinstance(a, str) for a in accept),
                "Give a list of kinds of findings.",
            ),
        }
        for name, (ok, remedy) in right.items():
            if not ok:
                value = getattr(self, name)
                raise InputError(f"{name} is {value!r}.", name=name, value=repr(value), remedy=remedy)

    def __getattr__(self, name: str) -> Any:
        if name.endswith("_") and not name.startswith("_"):
            raise AttributeError(f"Identifier has no {name} yet: it is learned by fit, fit_raw, fit_log or fit_chunks.")
        raise AttributeError(f"Identifier has no {name!r}.")

    # fitting

    def fit(self, q: Any, qd: Any, qdd: Any, tau: Any, t: Any = None) -> Identifier:
        """Estimate from samples: q (n, nq), qd, qdd, tau (n, nv), in rad, m, s, N m; t (n,) seconds, for checks only.

        Raises InputError for a log that betrays an error (checks.py), with joint and sample.
        """
        model = self.model
        q, qd, qdd, tau = model.checked(q, qd, qdd, tau)
        times = None if t is None else real_array("t", t)
        findings = check_log(model, q, qd, qdd, tau, times)
        refuse(findings, self.accept)
        require_samples(model, len(q))
        rows = (model.regressor(q, qd, qdd), tau) if self.method == "irls" else None
        return self._learn(findings, model_factors(model, q, qd, qdd, tau), rows)

    def fit_raw(self, t: Any, q: Any, tau: Any, cutoff: float, qd: Any = None) -> Identifier:
        """Estimate from raw encoder and torque samples at an even rate.

        Positions are filtered without delay below `cutoff` Hz and differentiated.  One filter goes over regressor and
        torques, which are then thinned, so that what is left of the noise is white.
        """
        return self.fit_raw_chunks([(t, q, tau, qd)], cutoff)

    def fit_chunks(self, chunks: Iterable[Sequence[Any]]) -> Identifier:
        """Estimate from chunks (q, qd, qdd, tau) or (q, qd, qdd, tau, t) that follow each other.

        Memory does not grow with their number.
        """
        watch = Watch(self.model, self.accept)
        factors = merged(plain_factors(self.model, chunks, watch))
        return self.fit_factors(factors, watch.findings())

    def fit_raw_chunks(self, chunks: Iterable[tuple[Any, Any, Any, Any]], cutoff: float) -> Identifier:
        """Estimate as fit_raw does from chunks (t, q, tau, qd or None) that follow each other."""
        watch = Watch(self.model, self.accept)
        if self.method == "irls":  # wants all rows at once
            W, thin = (np.concatenate(a) for a in zip(*raw_rows(self.model, chunks, cutoff, watch), strict=True))
            factors, rows = merged(chunk_factors(*c) for c in chunks_of(W, thin)), (W, thin)
        else:
            factors, rows = merged(raw_factors(self.model, chunks, cutoff, watch)), None
        require_samples(self.model, factors.total)
        return self._learn(watch.findings(), factors, rows, True)

    def fit_factors(self, factors: Factors, findings: Sequence[Finding] = ()) -> Identifier:
        """Estimate from factors made elsewhere (other processes or machines) for this model."""
        if not isinstance(factors, Factors):
            raise InputError(
                f"{factors!r} are no factors.", name="factors", value=repr(factors)[:200],
                remedy="Give what log_factors or chunk_factors returned.",
            )  # fmt: skip
        require_samples(self.model, factors.total)
        return self._learn(findings, factors, None)

    def _learn(
        self, findings: Sequence[Finding], factors: Factors, rows: Rows | None, correlated: bool = False
    ) -> Identifier:
        model = self.model
        correlated = (correlated or factors.total >= MANY) if self.correlated is None else self.correlated
        if self.method == "irls":
            if rows is None:
                raise UnsupportedError(
                    "method 'irls' wants all samples in memory.", name="method",
                    remedy="Use 'wls', or fit() and fit_raw().",
                )  # fmt: skip
            result, factors = robust_estimate(model, *rows, moved(model, findings))
        else:
            result = estimate(model, factors, self.method, correlated, moved(model, findings))
        self._keep(result, findings)
        self._judge(factors, result)
        for text in self.warnings_:
            warnings.warn(text, IdentificationWarning, stacklevel=3)
        return self

    def _keep(self, result: Estimate, findings: Sequence[Finding]) -> None:
        self.estimate_ = result
        self.coef_, self.coef_std_ = result.x, result.deviations
        self.names_, self.formulas_ = result.names, self.model.formulas
        self.correlation_, self.covariance_ = result.correlation, result.covariance
        self.sigma_, self.condition_, self.scaled_condition_ = result.sigma, result.condition, result.scaled_condition
        self.unknown_, self.findings_, self.n_samples_ = result.unknown, tuple(findings), result.samples

    def _judge(self, factors: Factors, result: Estimate) -> None:
        """Are there real bodies with these parameters?  If not, or when asked, fit real bodies."""
        self.warnings_ = [f.text for f in self.findings_ if not f.refused]
        if result.unknown:
            names = ", ".join(u.name for u in result.unknown[:6])
            more = f" and {len(result.unknown) - 6} more" if len(result.unknown) > 6 else ""
            self.warnings_.append(f"This motion does not determine {names}{more}: see unknown_.")
        self.consistent_: Consistent | None = None
        self.impossible_: dict[str, float] | None = None
        lacking: dict[str, float] = {}
        try:
            lacking = impossible_bodies(self.model, result.x)
            self.impossible_ = beyond_deviation(self.model, result.x, result.deviations, lacking)
        except KaneError as error:  # no solver, or it gave up: nothing is claimed
            if self.consistent and isinstance(error, MissingExtraError):
                raise
            self.warnings_.append(f"Not checked whether real bodies have these parameters: {error}")
            if isinstance(error, MissingExtraError):
                self.residual_ = result.sigma
                return
        if self.impossible_:
            worst = ", ".join(sorted(self.impossible_, key=lambda name: -lacking[name]))
            way = "Fit real bodies: Identifier(..., consistent=True), or --consistent."
            way = "Real bodies are fitted instead; the values are theirs." if self.consistent else way
            self.warnings_.append(f"Least squares gives what no real body has: {worst}. {way}")
        if lacking or self.consistent:
            self.consistent_ = consistent_fit(
                self.model, weighted_factor(factors, result.sigma), self.prior_weight, result.x
            )
        self.residual_ = result.sigma if self.x_ is self.coef_ else residual_deviation(factors, self.x_)

    # use

    def _fitted(self) -> None:
        if "coef_" not in self.__dict__:
            raise InputError("The identifier has learned nothing yet.", name="Identifier", remedy="Call fit first.")

    @property
    def x_(self) -> Array:
        """The parameters that are told and that predictions use: of real bodies when asked for, else the estimate."""
        if self.consistent and self.consistent_ is not None:
            return self.consistent_.x
        return self.coef_

    def predict(self, q: Any, qd: Any, qdd: Any) -> Array:
        """Torques (n, nv), N m or N."""
        self._fitted()
        return self.model.torque(*self.model.checked(q, qd, qdd)[:3], self.x_)

    def _measured(self, *samples: Any) -> Array:
        """The torques of q, qd, qdd, tau, all of them finite."""
        arrays = self.model.checked(*samples)
        refuse(broken_samples(self.model, *arrays))
        return arrays[3]

    def score(self, q: Any, qd: Any, qdd: Any, tau: Any) -> float:
        """Coefficient of determination R^2, the mean over the joints (1 is best)."""
        tau = self._measured(q, qd, qdd, tau)
        residual = ((tau - self.predict(q, qd, qdd)) ** 2).sum(axis=0)
        square = ((tau - tau.mean(axis=0)) ** 2).sum(axis=0)
        return float(np.mean(1.0 - residual / np.where(square > 0, square, 1.0)))

    def prediction_error(self, q: Any, qd: Any, qdd: Any, tau: Any) -> dict[str, tuple[float, float]]:
        """For each joint the root mean square error, N m or N, and its share of the torque's range."""
        tau = self._measured(q, qd, qdd, tau)
        return shares_of_range(self.model.joints, tau - self.predict(q, qd, qdd), tau)

    @property
    def tolerances_(self) -> dict[str, float]:
        """Standard deviation of each parameter by name: tolerances for certificates."""
        return dict(zip(self.names_, map(float, self.coef_std_), strict=True))

    def to_mechanism(self) -> Mechanism:
        """The robot with real bodies, rotors and friction that have the estimate.

        The nearest to the description, or the consistent fit.  Raises MissingExtraError without clarabel.
        """
        self._fitted()
        found = self.consistent_ or nearest_consistent(self.model, self.coef_)
        if found is None:  # on the border of what is possible
            raise ConvergenceError(
                "No real bodies have the estimated parameters.", remedy="Fit with consistent=True and take that."
            )
        return with_parameters(self.model, found)

    def as_dict(self) -> dict[str, Any]:
        """Everything learned in plain values, for JSON: infinite deviations are None.

        value: as in table(); least_squares: what least squares gives, whose deviation it is.
        """
        rows = [
            {"name": n, "formula": f, "value": v, "deviation": d if np.isfinite(d) else None, "least_squares": float(x)}
            for (n, v, d, f), x in zip(self.table(), self.coef_, strict=True)
        ]
        return {
            "parameters": rows,
            "consistent": self.x_ is not self.coef_,
            "sigma": dict(zip(self.model.joints, map(float, self.sigma_), strict=True)),
            "residual": dict(zip(self.model.joints, map(float, self.residual_), strict=True)),
            "condition": self.condition_ if np.isfinite(self.condition_) else None,
            "scaled_condition": self.scaled_condition_ if np.isfinite(self.scaled_condition_) else None,
            "samples": self.n_samples_,
            "method": self.method,
            "unknown": [{"name": u.name, "reason": u.reason} for u in self.unknown_],
            "findings": [
                {"kind": f.kind, "joint": f.joint, "sample": f.sample, "text": f.text} for f in self.findings_
            ],
            "impossible": self.impossible_,
            "warnings": list(self.warnings_),
        }

    def table(self) -> tuple[tuple[str, float, float, str], ...]:
        """(name, value, deviation, formula) of each parameter: the values of x_, the deviations of least squares."""
        self._fitted()
        return tuple(zip(self.names_, map(float, self.x_), map(float, self.coef_std_), self.formulas_, strict=True))


def shares_of_range(joints: Sequence[str], error: Array, tau: Array) -> dict[str, tuple[float, float]]:
    """For each joint the root mean square of an error (n, nv) and its share of the range of tau (n, nv)."""
    rms, span = np.sqrt((error**2).mean(axis=0)), np.ptp(tau, axis=0)
    return {j: (float(r), float(r / s) if s else np.inf) for j, r, s in zip(joints, rms, span, strict=True)}


def residual_deviation(factors: Factors, x: Array) -> Array:
    """For each joint the deviation of its torques from those of x (k,), as many degrees of freedom taken off as k."""
    per_joint = factors.joint_factors()
    squares = ((per_joint @ np.append(x, -1.0)) ** 2).sum(axis=1)
    return np.asarray(np.sqrt(squares / max(1.0, factors.total - factors.size / len(per_joint))))


def weighted_factor(factors: Factors, sigma: Array) -> Array:
    """The triangular factor (k, k + 1) of [W | tau] in units of each joint's noise."""
    per_joint = factors.joint_factors()
    floor = 1e-6 * max(float(np.abs(per_joint).max()) / max(1.0, np.sqrt(factors.total)), 1e-12)
    weights = 1.0 / np.maximum(sigma, floor)
    return triangle((weights[:, None, None] * per_joint).reshape(-1, factors.size + 1))[: factors.size]
