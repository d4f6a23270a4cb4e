"""Abbreviated models: operations, truth of the certificates, the paper's rule recomputed."""

from __future__ import annotations

import numpy as np
import pytest

from kane import robots
from kane.errors import InputError
from kane.explicit import evaluate as ev
from kane.explicit.abbreviate import Abbreviated, Options, abbreviate
from kane.explicit.bounds import make_field, values
from kane.explicit.model import ExplicitModel, explicit_model
from kane.explicit.ranges import Ranges, default_ranges, smallest_diagonal
from kane.explicit.significance import elements, significance
from kane.graph.evaluate import evaluate

Array = np.ndarray


@pytest.fixture(scope="module")
def full() -> ExplicitModel:
    return explicit_model(robots.load("puma560"))


@pytest.fixture(scope="module")
def certified(full: ExplicitModel) -> Abbreviated:
    return abbreviate(full, 0.01)


@pytest.fixture(scope="module")
def paper(full: ExplicitModel) -> Abbreviated:
    return abbreviate(full, 0.01, "paper")


def error(full: ExplicitModel, short: Abbreviated, q: Array, qd: Array, qdd: Array) -> Array:
    """Torque error by the program that is delivered."""
    tau = evaluate(short.program, {"q": q, "qd": qd, "qdd": qdd})["tau"]
    return np.asarray(tau - ev.inverse_dynamics(full, q, qd, qdd))


def draw(ranges: Ranges, count: int, seed: int, corners: bool) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    n = len(ranges.speed)
    q = rng.uniform(ranges.lower, ranges.upper, size=(count, n))
    box = rng.choice((-1.0, 1.0), size=(2, count, n)) if corners else rng.uniform(-1, 1, size=(2, count, n))
    return q, box[0] * ranges.speed, box[1] * ranges.acceleration


def test_operations(certified: Abbreviated, paper: Abbreviated) -> None:
    assert paper.counts.total <= 305
    assert certified.counts.total <= 120


def test_default_ranges_are_the_robots_limits(full: ExplicitModel) -> None:
    ranges = default_ranges(full)
    assert ranges.reference == (97.6, 186.4, 89.4, 24.2, 20.1, 21.3)
    assert ranges.speed[0] == pytest.approx(120 / 62.61)
    q = np.random.default_rng(3).uniform(-np.pi, np.pi, (50_000, 6))
    least = np.diagonal(ev.mass_matrix(full, q), axis1=-2, axis2=-1).min(axis=0)
    found = smallest_diagonal(full, ranges)
    assert np.all(found <= least + 1e-12) and np.all(least < 1.02 * np.array(found))
    np.testing.assert_allclose(ranges.acceleration, np.array(ranges.reference) / found)


@pytest.mark.parametrize("which", ["certified", "paper"])
def test_certificates_hold_at_a_million_samples(
    full: ExplicitModel, which: str, request: pytest.FixtureRequest
) -> None:
    short: Abbreviated = request.getfixturevalue(which)
    bound = np.array([c.bound for c in short.certificates])
    greatest = np.zeros(6)
    for seed in range(20):
        state = draw(short.ranges, 50_000, seed, corners=seed % 2 == 0)
        greatest = np.maximum(greatest, np.abs(error(full, short, *state)).max(axis=0))
    assert np.all(greatest <= bound)
    assert np.all(greatest > 0.4 * bound)  # no empty promise either
    if which == "certified":
        assert all(c.share <= 0.01 for c in short.certificates)


def test_adversarial_ascent_stays_below_and_comes_close(full: ExplicitModel, certified: Abbreviated) -> None:
    """1,000 starts for each joint, accelerations at their limits, angles and speeds by shrinking random steps."""
    ranges, rng = certified.ranges, np.random.default_rng(11)
    for joint, certificate in enumerate(certified.certificates):
        q, qd, qdd = draw(ranges, 1000, 100 + joint, corners=True)
        best = np.abs(error(full, certified, q, qd, qdd)[:, joint])
        for step in np.geomspace(1.0, 0.02, 60):
            trial_q = np.clip(
                q + step * rng.normal(size=q.shape) * (rng.random(q.shape) < 0.5), ranges.lower, ranges.upper
            )
            flips = lambda x: np.where(rng.random(x.shape) < 0.12, -x, x)
            trial = (trial_q, flips(qd), flips(qdd))
            value = np.abs(error(full, certified, *trial)[:, joint])
            better = (value > best)[:, None]
            q, qd, qdd = (np.where(better, new, old) for new, old in zip(trial, (q, qd, qdd), strict=True))
            best = np.maximum(best, value)
        assert best.max() <= certificate.bound
        assert certificate.bound <= 1.5 * best.max()


def test_program_and_model_agree(certified: Abbreviated, paper: Abbreviated) -> None:
    for short in (certified, paper):
        q, qd, qdd = draw(short.ranges, 50, 5, corners=False)
        tau = evaluate(short.program, {"q": q, "qd": qd, "qdd": qdd})["tau"]
        np.testing.assert_allclose(tau, ev.inverse_dynamics(short.model, q, qd, qdd), atol=1e-10)


def test_the_papers_rule_recomputed(full: ExplicitModel, paper: Abbreviated) -> None:
    """The rule of the paper, recomputed by dense sampling.

    A term goes when below 1 % of the greatest of its element, or 0.1 % of the joint's largest constant term.
    """
    constants = ev.constant_values(full)
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (40_000, 6))
    waves = ev.Waves(q)
    kept = {(m, i, j): set(e) for m, i, j, e in elements(paper.model)}
    for m, i, j, expression in elements(full):
        sizes = [np.abs(float(t.ratio) * constants[t.constant] * waves.product(t.factors)).max() for t in expression]
        rows = [sum(float(t.ratio) * constants[t.constant] for t in e if not t.factors) for e in full.A[i]]
        largest = max(map(abs, rows)) if m != "g" else 0.0
        for t, size in zip(expression, sizes, strict=True):
            share = min(size / max(sizes) / 0.01, size / largest / 0.001 if largest else np.inf)
            if abs(share - 1) > 0.05:  # sampling is not exact at the border
                assert (t in kept[m, i, j]) == (share > 1)


def test_significance_is_the_greatest_value(full: ExplicitModel) -> None:
    shares = significance(full)
    assert max(s.share for s in shares) == 1.0
    first = next(s for s in shares if s.matrix == "A" and (s.row, s.column) == (0, 0) and len(s.term.factors) == 1)
    assert 0 < first.greatest and first.constant_share > 0


def test_narrow_ranges_and_a_slide() -> None:
    """A slide and limited angles: the certificate covers the ranges."""
    model = explicit_model(robots.load("scara"))
    ranges = default_ranges(
        model,
        speed=(1.0,) * 4,
        acceleration=(2.0,) * 4,
        reference=(60.0, 30.0, 40.0, 5.0),
        lower=(-1.0, -1.0, 0.1, -1.0),
        upper=(1.0, 1.0, 0.6, 1.0),
    )
    short = abbreviate(model, 0.02, ranges=ranges)
    q, qd, qdd = draw(ranges, 100_000, 1, corners=True)
    tau = evaluate(short.program, {"q": q, "qd": qd, "qdd": qdd})["tau"]
    apart = np.abs(tau - ev.inverse_dynamics(model, q, qd, qdd)).max(axis=0)
    assert np.all(apart <= [c.bound + 1e-12 for c in short.certificates])
    assert short.dropped


def test_fields_are_the_functions() -> None:
    """A field's coefficients are those of the products it is made from."""
    model = explicit_model(robots.load("elbow3"))
    constants = ev.constant_values(model)
    ranges = default_ranges(model, speed=(1.0,) * 3, acceleration=(1.0,) * 3, reference=(1.0,) * 3)
    terms = [((), float(t.ratio) * constants[t.constant], t.factors) for t in model.A[0][0]]
    q = np.random.default_rng(2).uniform(-3, 3, (40, 3))
    field = make_field(3, terms, ranges.box)
    np.testing.assert_allclose(values(field, q)[:, 0], ev.mass_matrix(model, q)[:, 0, 0], atol=1e-12)


def test_structure_is_kept(full: ExplicitModel) -> None:
    """A symmetric and certified positive definite, B and C its Christoffel symbols, g a gradient."""
    short = abbreviate(full, 0.01, options=Options(effort=0, keep_structure=True))
    assert short.smallest_eigenvalue is not None and short.smallest_eigenvalue > 0
    assert all(c.share <= 0.01 for c in short.certificates) and short.dropped
    model = short.model
    q = np.random.default_rng(4).uniform(-np.pi, np.pi, (6, 6))
    a = ev.mass_matrix(model, q)
    np.testing.assert_allclose(a, np.swapaxes(a, -1, -2), atol=1e-14)
    step = 1e-5
    shifted = [(q + step * e, q - step * e) for e in np.eye(6)]
    rates = np.stack([(ev.mass_matrix(model, u) - ev.mass_matrix(model, v)) / (2 * step) for u, v in shifted], -1)
    symbol = (rates + np.swapaxes(rates, -1, -2) - np.moveaxis(rates, -1, -3)) / 2
    for place, (j, k) in enumerate(model.b_columns):
        np.testing.assert_allclose(ev.b_matrix(model, q)[..., place], 2 * symbol[..., j, k], atol=1e-8)
    hessian = np.stack([(ev.gravity(model, u) - ev.gravity(model, v)) / (2 * step) for u, v in shifted], -1)
    np.testing.assert_allclose(hessian, np.swapaxes(hessian, -1, -2), atol=1e-7)


def test_certificate_with_tolerances_and_float32(full: ExplicitModel) -> None:
    """The bound covers other parameters within their tolerances and evaluation in single precision."""
    tolerances = {"m3": 0.01, "ry3": 0.0005, "Ixx2": 0.002}
    short = abbreviate(full, 0.02, options=Options(effort=0, tolerances=tolerances, dtype="float32"))
    bound = np.array([c.bound for c in short.certificates])
    q, qd, qdd = draw(short.ranges, 20_000, 9, corners=True)
    single = [np.asarray(x, dtype=np.float32) for x in (q, qd, qdd)]
    q, qd, qdd = (x.astype(float) for x in single)
    values: list[np.ndarray] = []
    for op, args, payload, _ in short.program.values:
        x = [np.float32(-1 if a & 1 else 1) * values[a >> 1] for a in args]
        if op == "input":
            values.append(single[payload[0]][:, payload[1]])
        elif op == "num":
            values.append(np.float32(float(payload)))
        else:
            values.append(np.asarray({"add": np.add, "mul": np.multiply, "sin": np.sin, "cos": np.cos}[op](*x)))
        assert np.asarray(values[-1]).dtype == np.float32
    (output,) = short.program.outputs
    tau = np.stack([np.float32(-1 if r & 1 else 1) * values[r >> 1] for r in output.refs], -1)
    for signs in ((1, 1, 1), (-1, 1, -1), (1, -1, 1)):
        nominal = full.mechanism.parameter_values
        moved = {name: nominal[name] + s * d for s, (name, d) in zip(signs, tolerances.items(), strict=True)}
        apart = np.abs(tau - ev.inverse_dynamics(full, q, qd, qdd, moved)).max(axis=0)
        assert np.all(apart <= bound)


def test_tolerances_that_leave_no_room(full: ExplicitModel) -> None:
    with pytest.raises(InputError, match="tolerance"):
        abbreviate(full, 0.01, options=Options(tolerances={"m2": 5.0}))


def test_ranges_are_made_up_only_where_the_description_has_none() -> None:
    from kane.explicit.ranges import assumed_ranges

    puma = explicit_model(robots.load("puma560"))
    assert assumed_ranges(puma) == (default_ranges(puma), "")
    for name in ("scara", "elbow3", "planar_rp"):
        model = explicit_model(robots.load(name))
        ranges, words = assumed_ranges(model)
        assert "made-up" in words
        random = np.random.default_rng(9)
        q = random.uniform(ranges.lower, ranges.upper, (500, model.n))
        signs = random.choice([-1.0, 1.0], (2, 500, model.n))
        tau = ev.inverse_dynamics(model, q, signs[0] * ranges.speed, signs[1] * ranges.acceleration)
        ratio = np.abs(tau).max(axis=0) / ranges.reference
        assert "torques" not in words or (np.all(ratio > 0.5) and np.all(ratio < 1.3))
        for level in (0.01, 0.05):
            assert all(c.share <= level for c in abbreviate(model, level, ranges=ranges).certificates)
