"""Are the deviations of identified parameters honest?  Arms simulated with friction, encoder steps, ripple and noise.

Run: python benchmarks/identified.py [--runs 200] [--robots puma560,panda,tree] [--motion designed|random].  Each run is
the whole way from a raw 1 kHz log (encoder counts and torques) to parameters: filters, differentiation, weighted least
squares, real bodies.  The description that the identifier starts from has bodies up to 30 % too light or too heavy.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from kane.formats.urdf import read_urdf
from kane.identification import Identifier, Search, exciting_motion, motion_limits, torque_model
from kane.identification.motion import within
from kane.identification.pseudo import is_physical
from kane.robots import load
from kane.robots.generated import tree

STEP = 1e-3  # s
COUNTS = 1000  # of the encoder a turn of the motor
RIPPLE = 0.005  # of a joint's range of torque, six times a turn of the motor
NOISE = 0.02  # of a joint's range of torque, deviation of each sample
CUTOFF = 10.0  # Hz
PERIODS = {"designed": 1, "random": 2}  # of 10 s and of 6 s


def rough(robot, friction, damping):
    """The robot with Coulomb and viscous friction at its moving joints."""
    moving = [j for j in robot.joints if j.type != "fixed"]
    for joint, c, d in zip(moving, friction, damping, strict=True):
        robot = robot.replace_joint(replace(joint, friction=Fraction(str(c)), damping=Fraction(str(d))))
    return robot


def puma560():
    """The parameters of Armstrong, Khatib and Burdick 1986, rotors included, with friction of the usual size."""
    robot = rough(load("puma560"), [6.3, 5.5, 2.6, 1.3, 1.0, 1.2], [4.9, 8.2, 3.1, 0.6, 0.7, 0.5])
    return robot, np.array([62.61, 107.36, 53.69, 76.01, 71.91, 76.73])


def panda():
    """The arm of example-robot-data without rotors, its fingers held."""
    import pinocchio

    share = Path(pinocchio.__file__).parents[4] / "share/example-robot-data/robots"
    robot = read_urdf(share / "panda_description/urdf/panda.urdf")
    held = [replace(j, type="fixed", mimic=None) if j.type == "prismatic" else j for j in robot.joints]
    robot = replace(robot, joints=tuple(replace(j, rotor=None) for j in held))
    return rough(robot, [0.4] * 7, [1.1] * 7), np.full(7, 100.0)


def two_branches():
    """A trunk with two arms, six joints."""
    return rough(tree(6, branching=2, seed=3), [0.3] * 6, [0.5] * 6), np.full(6, 80.0)


ROBOTS = {"puma560": puma560, "panda": panda, "tree": two_branches}


def misjudged(robot, rng):
    """A description whose bodies have other masses, everything in proportion."""
    links = []
    for link in robot.links:
        if link.inertia is None:
            links.append(link)
            continue
        f = Fraction(int(rng.integers(70, 131)), 100)
        moments = tuple(f * m for m in link.inertia.moments)
        links.append(replace(link, inertia=replace(link.inertia, mass=f * link.inertia.mass, moments=moments)))
    return replace(robot, links=tuple(links))


def random_motion(model, seed, period=6.0, harmonics=4):
    """A periodic motion with normal coefficients that fills the limits of the description."""
    rng = np.random.default_rng(seed)
    shape = rng.normal(size=(model.nv, 2, harmonics)) / np.arange(1, harmonics + 1)
    place, fill = rng.uniform(size=model.nv), np.ones(model.nv)
    return within(motion_limits(model), period, shape, place, fill, model.joints)


@dataclass(frozen=True)
class Bench:
    """A robot and what each of its runs shares."""

    fit: Identifier
    truth: np.ndarray
    t: np.ndarray
    q: np.ndarray
    clean: np.ndarray
    gears: np.ndarray
    unseen: tuple
    expected: np.ndarray

    def log(self, rng):
        """Encoder positions and torques of one run."""
        n = self.q.shape[1]
        size = 2.0 * np.pi / (self.gears * COUNTS)
        encoder = np.floor(self.q / size + rng.uniform(size=n)) * size
        span = np.ptp(self.clean, axis=0)
        ripple = RIPPLE * span * np.sin(6.0 * self.gears * self.q + rng.uniform(0.0, 2.0 * np.pi, n))
        return encoder, self.clean + ripple + NOISE * span * rng.normal(size=self.q.shape)

    def run(self, seed):
        """Scores (k,) in deviations, largest error of both fits on unseen motion (share of range), all bodies real."""
        encoder, tau = self.log(np.random.default_rng([seed, 7]))
        fit = self.fit.fit_raw(self.t, encoder, tau, cutoff=CUTOFF)
        errors = [self._error(x) for x in (fit.coef_, fit.consistent_.x)]
        bodies = [name for name in fit.model.base.full if not name.endswith((".Im", ".J"))]
        real = all(is_physical(b) for b in fit.consistent_.full[: len(bodies)].reshape(-1, 10))
        return (fit.coef_ - self.truth) / fit.coef_std_, errors, real

    def _error(self, x):
        wrong = self.fit.model.torque(*self.unseen, x) - self.expected
        return float((np.sqrt((wrong**2).mean(axis=0)) / np.ptp(self.expected, axis=0)).max())


def bench(name, motion, rounds=200):
    """The bench of a robot; motion "designed" or "random"."""
    robot, gears = ROBOTS[name]()
    model = torque_model(robot, friction="all")
    if motion == "designed":
        made = exciting_motion(model, (10.0, 8), search=Search(rounds=rounds)).motion
    else:
        made = random_motion(model, 1)
    t = np.arange(0.0, PERIODS[motion] * made.period, STEP)
    q, qd, qdd = made(t)
    other = random_motion(model, 55)
    unseen = other(other.times(1200))
    fit = Identifier(misjudged(robot, np.random.default_rng(0)), friction="all", method="wls", consistent=True)
    clean, expected = (model.torque(*states, model.prior) for states in ((q, qd, qdd), unseen))
    return Bench(fit, model.prior, t, q, clean, gears, unseen, expected)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--robots", default=",".join(ROBOTS))
    parser.add_argument("--motion", choices=("designed", "random"), default="designed")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.robots.split(","):
        made = bench(name, options.motion)
        start = time.perf_counter()
        scores, errors, real = zip(*(made.run(seed) for seed in range(options.runs)), strict=True)
        inside, worst = np.abs(scores) < 3.0, np.max(errors, axis=0)
        whole = inside.all(axis=1).mean()
        spent = (time.perf_counter() - start) / options.runs
        print(
            f"{name}, {options.motion} motion, {options.runs} runs of {len(made.t)} samples, {spent:.2f} s each\n"
            f"  {inside.shape[1]} parameters; within three deviations: {inside.mean():.4f} of all values, "
            f"{inside.mean(axis=0).min():.3f} of the worst parameter's; all of a run in {whole:.3f}\n"
            f"  scores: mean square {np.square(scores).mean():.2f}, within one {(np.abs(scores) < 1).mean():.3f}\n"
            f"  largest torque error on unseen motion: plain {worst[0]:.2%}, real bodies {worst[1]:.2%} of range; "
            f"real in {np.mean(real):.3f} of the runs",
            flush=True,
        )


if __name__ == "__main__":
    main()
