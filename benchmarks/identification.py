"""Identification of the PUMA 560 from long logs: time and memory of streaming factors against numpy.linalg.lstsq.

Run: python benchmarks/identification.py [--samples 1000000] [--stacked 100000].  Streaming makes its samples chunk by
chunk, so memory is that of one chunk however many there are; lstsq holds the stacked regressor.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np

from kane.identification.identifier import Identifier
from kane.robots import load

CHUNK = 50_000


def puma():
    """The PUMA 560 with viscous and Coulomb friction."""
    robot = load("puma560")
    joints = tuple(replace(j, friction=Fraction(1), damping=Fraction(1)) for j in robot.joints)
    return replace(robot, joints=joints)


def samples(model, first, count):
    """Samples first, first + 1, ... at 1 kHz of one endless motion with noise."""
    rng = np.random.default_rng(first)
    t = (first + np.arange(count))[:, None] * 1e-3
    w = np.array([1.1, 1.7, 2.3, 2.9, 3.1, 3.7])
    q = np.sin(w * t) + 0.5 * np.cos(1.618 * w * t)
    qd = w * np.cos(w * t) - 0.809 * w * np.sin(1.618 * w * t)
    qdd = -w * w * np.sin(w * t) - 1.309 * w * w * np.cos(1.618 * w * t)
    tau = model.torque(q, qd, qdd, model.prior)
    return q, qd, qdd, tau + 0.1 * rng.normal(size=tau.shape)


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


def line(name, count, seconds):
    per_million = 1e6 * seconds / count
    print(f"{name:<10} {count:>10} samples {seconds:8.2f} s {per_million:8.2f} s/million, peak {peak():.2f} GB")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--stacked", type=int, default=100_000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    fit = Identifier(puma(), method="ols")
    model = fit.model
    spent = 0.0

    def chunks():
        nonlocal spent
        for first in range(0, options.samples, CHUNK):
            start = time.perf_counter()
            chunk = samples(model, first, min(CHUNK, options.samples - first))
            spent += time.perf_counter() - start
            yield chunk

    start = time.perf_counter()
    fit.fit_chunks(chunks())
    line("streaming", options.samples, time.perf_counter() - start - spent)
    few = samples(model, 0, options.stacked)
    start = time.perf_counter()
    W = model.regressor(*few[:3]).reshape(-1, len(model.names))
    x = np.linalg.lstsq(W, few[3].reshape(-1), rcond=None)[0]
    line("lstsq", options.stacked, time.perf_counter() - start)
    start = time.perf_counter()
    fit.fit_chunks([few])
    line("streaming", options.stacked, time.perf_counter() - start)
    print(f"largest difference of a parameter: {np.abs(fit.coef_ - x).max():.2e}")


if __name__ == "__main__":
    main()
