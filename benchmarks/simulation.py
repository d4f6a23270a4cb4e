"""Simulation side by side with other tools, in one run on one core.

1. Free motion of the PUMA 560 over 3 s: our compiled loop, pinocchio's forward dynamics in scipy's solve_ivp, and
   MuJoCo's RK4 with steps halved until each is as accurate as asked.  MuJoCo refuses the PUMA's inertias; it gets them
   balanced and is judged against its own limit, so its row times the same work on another arm.
2. 4096 double pendulums: RK4 steps of states per second against a jitted JAX vmap (where jax is there) and NumPy.

    python benchmarks/simulation.py [--json] [--seconds 3] [--error 1e-6]
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import time

import numpy as np

from kane import robots
from kane.formats.urdf_write import write_urdf
from kane.mechanism.builder import System
from kane.simulation import prepare, simulate, simulate_batch

START = [0.3] * 6


def best(run, repeat=5):
    """Shortest of some runs, s, and the last result."""
    times, result = [], None
    for _ in range(repeat):
        start = time.perf_counter()
        result = run()
        times.append(time.perf_counter() - start)
    return min(times), result


def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def coarsest(run, wanted, choices):
    """The cheapest of the choices whose error against `wanted` is small enough: (choice, end)."""
    for choice in choices:
        end = run(choice)
        if np.abs(end - wanted[0]).max() <= wanted[1]:
            return choice, np.abs(end - wanted[0]).max()
    return choices[-1], np.abs(end - wanted[0]).max()


def puma_rows(seconds, error):
    mechanism = robots.load("puma560", rotors=False)
    model = prepare(mechanism)
    reference = simulate(model, seconds, START, rtol=1e-13, atol=1e-14).y[:, -1]
    tolerances = [10.0**-k for k in np.arange(4, 13, 0.5)]
    rows = []

    def ours(rtol):
        return simulate(model, seconds, START, rtol=rtol, atol=rtol / 10, dense=False).y[:, -1]

    rtol, seen = coarsest(ours, (reference, error), tolerances)
    rows.append(("kane", f"DOP853, rtol {rtol:.0e}", seen, best(lambda: ours(rtol))[0]))
    text = write_urdf(mechanism)
    rows += pinocchio_row(text, seconds, error, reference, tolerances) + mujoco_row(text, seconds, error)
    return rows


def pinocchio_row(text, seconds, error, reference, tolerances):
    try:
        import pinocchio as pin
    except ImportError:
        return []
    from scipy.integrate import solve_ivp

    robot = pin.buildModelFromXML(text)
    data = robot.createData()
    tau = np.zeros(6)

    def slope(t, y):
        return np.concatenate([y[6:], pin.aba(robot, data, y[:6], y[6:], tau)])

    def run(rtol):
        y0 = np.array([*START, *[0.0] * 6])
        return solve_ivp(slope, (0, seconds), y0, method="DOP853", rtol=rtol, atol=rtol / 10).y[:, -1]

    rtol, seen = coarsest(run, (reference, error), tolerances)
    return [("pinocchio + scipy", f"DOP853, rtol {rtol:.0e}", seen, best(lambda: run(rtol))[0])]


def mujoco_row(text, seconds, error):
    try:
        import mujoco
    except ImportError:
        return []
    options = '<mujoco><compiler balanceinertia="true" boundmass="1e-9" boundinertia="1e-9"/></mujoco></robot>'
    robot = mujoco.MjModel.from_xml_string(text.replace("</robot>", options))
    robot.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    robot.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data = mujoco.MjData(robot)

    def run(steps):
        mujoco.mj_resetData(robot, data)
        data.qpos[:] = START
        robot.opt.timestep = seconds / steps
        mujoco.mj_step(robot, data, nstep=steps)
        return np.concatenate([data.qpos, data.qvel])

    limit = run(64000)
    steps, seen = coarsest(run, (limit, error), [int(125 * 2**k * seconds) for k in np.arange(0, 8, 0.5)])
    return [("MuJoCo (balanced inertias)", f"RK4, {steps} steps", seen, best(lambda: run(steps))[0])]


def double_pendulum():
    s = System("double_pendulum")
    a, b = s.coordinates("a b")
    A, B = s.N.orient_new_axis("A", 3, a), s.N.orient_new_axis("B", 3, b)
    P = s.O.locate_new("P", A.x * 1)
    s.particle("P", P, 1)
    s.particle("Q", P.locate_new("Q", B.x * "0.8"), "0.7")
    s.gravity(s.N.x * 9.81)
    return s


def slopes(np_, q, u):
    """The double pendulum by hand, for the peers: arrays (..., 2)."""
    m1, m2, l1, l2, g = 1.0, 0.7, 1.0, 0.8, 9.81
    a, b, da, db = q[..., 0], q[..., 1], u[..., 0], u[..., 1]
    c, s = np_.cos(a - b), np_.sin(a - b)
    m11, m12, m22 = (m1 + m2) * l1 * l1, m2 * l1 * l2 * c, m2 * l2 * l2
    f1 = -m2 * l1 * l2 * s * db * db - (m1 + m2) * g * l1 * np_.sin(a)
    f2 = m2 * l1 * l2 * s * da * da - m2 * g * l2 * np_.sin(b)
    det = m11 * m22 - m12 * m12
    return np_.stack([(m22 * f1 - m12 * f2) / det, (m11 * f2 - m12 * f1) / det], axis=-1)


def classic(np_, q, u, h):
    k1 = slopes(np_, q, u)
    k2 = slopes(np_, q + h / 2 * u, u + h / 2 * k1)
    k3 = slopes(np_, q + h / 2 * (u + h / 2 * k1), u + h / 2 * k2)
    k4 = slopes(np_, q + h * (u + h / 2 * k2), u + h * k3)
    return q + h * u + h * h / 6 * (k1 + k2 + k3), u + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def batch_rows(states=4096, steps=1000, h=1e-3):
    rng = np.random.default_rng(0)
    q, u = rng.uniform(-1, 1, (states, 2)), rng.uniform(-1, 1, (states, 2))
    model = prepare(double_pendulum())

    def ours(threads):
        return simulate_batch(model, [0, steps * h], q, u, method="RK4", step=h, threads=threads).y[-1]

    end = ours(1)
    rows = [
        ("kane", "1 thread", 0.0, best(lambda: ours(1), 3)[0]),
        ("kane", "2 threads", 0.0, best(lambda: ours(2), 3)[0]),
    ]
    few = 50
    seconds, _ = best(lambda: [classic(np, q, u, h) for _ in range(few)], 2)
    rows.append(("NumPy", "arrays of all states", 0.0, seconds * steps / few))
    try:
        import jax
    except ImportError:
        return states * steps, rows
    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp

    one = lambda q, u: jax.lax.fori_loop(0, steps, lambda _, s: classic(jnp, *s, h), (q, u))
    many = jax.jit(jax.vmap(one))
    run = lambda: [np.asarray(x) for x in many(q, u)]
    other = np.concatenate(run(), axis=1)
    rows.append((f"jax {version('jax')}", "vmap, jit, fori_loop", np.abs(other - end).max(), best(run, 3)[0]))
    return states * steps, rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--error", type=float, default=1e-6)
    given = parser.parse_args()
    puma = puma_rows(given.seconds, given.error)
    count, batch = batch_rows()
    peers = [{"name": n, "version": version(n)} for n in ("pin", "mujoco", "scipy", "numpy", "jax")]
    if given.json:
        keys = ("tool", "way", "error", "seconds")
        print(json.dumps({"peers": peers, "puma": [dict(zip(keys, r, strict=True)) for r in puma],
                          "batch": [dict(zip(keys, r, strict=True)) for r in batch], "steps": count}))  # fmt: skip
        return
    print(", ".join(f"{p['name']} {p['version']}" for p in peers))
    print(f"PUMA 560, free motion of {given.seconds:g} s, error at the end at most {given.error:g}")
    for tool, way, error, seconds in puma:
        print(f"  {tool:28}{way:26}{error:10.1e}{1e3 * seconds:12.3f} ms{seconds / puma[0][3]:9.1f}x")
    print("4096 double pendulums, 1000 steps of RK4")
    for tool, way, error, seconds in batch:
        print(
            f"  {tool:28}{way:26}{error:10.1e}{count / seconds / 1e6:10.2f} M steps/s{seconds / batch[0][3]:9.1f}x"
        )


if __name__ == "__main__":
    main()
