"""Derivation time against SymPy's KanesMethod, in one run: pendulums on a cart, spatial arms, the linearised bicycle.

    python benchmarks/kane_sympy.py [--full]

Both sides go from the declared mechanism to the mass matrix and forcing (the bicycle: to the state matrix at one
speed), import apart, processor time.  The mechanisms are the same; SymPy's side of the first is its own model
n_link_pendulum_on_cart, of the bicycle its own test.  Without --full the sizes that take SymPy more than some seconds
are left out.
"""

from __future__ import annotations

import argparse
import runpy
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kane.equations.projection import Equations, kane_equations, mass_and_bias
from kane.mechanism.builder import System, dot


def pendulum(n: int) -> Equations:
    """A cart with n links, all masses and lengths symbols."""
    s = System("cart")
    q = s.coordinates(" ".join(f"q{k}" for k in range(n + 1)))
    m = s.parameters(" ".join(f"m{k}" for k in range(n + 1)))
    lengths = s.parameters(" ".join(f"l{k}" for k in range(n)) + " g")
    s.speeds(**{f"u{k}": dot(x) for k, x in enumerate(q)})
    point = s.O.locate_new("P0", q[0] * s.N.x)
    s.particle("cart", point, m[0])
    s.force("F", point, s.inputs("F") * s.N.x)
    for k in range(n):
        frame = s.N.orient_new_axis(f"B{k}", 3, q[k + 1])
        point = point.locate_new(f"P{k + 1}", lengths[k] * frame.x)
        s.particle(f"bob{k}", point, m[k + 1])
    s.gravity(-lengths[n] * s.N.y)
    e = kane_equations(s.mechanism(), runs=True)
    mass_and_bias(e)
    return e


def sympy_pendulum(n: int) -> object:
    """The same with SymPy."""
    from sympy.physics.mechanics.models import n_link_pendulum_on_cart

    k = n_link_pendulum_on_cart(n)
    return k.mass_matrix_full, k.forcing_full


def arm(n: int) -> Equations:
    """A spatial chain with axes z, y, x, z, ... and full inertia, all symbols."""
    s = System("arm")
    q = s.coordinates(" ".join(f"q{k}" for k in range(n)))
    q = q if isinstance(q, tuple) else (q,)
    s.parameters("g")
    s.speeds(**{f"u{k}": dot(x) for k, x in enumerate(q)})
    frame, point = s.N, s.O
    for k, x in enumerate(q):
        p = dict(zip("m cx cy cz lx lz".split(), s.parameters(f"m{k} cx{k} cy{k} cz{k} lx{k} lz{k}"), strict=True))
        inertia = s.parameters(f"Ixx{k} Iyy{k} Izz{k} Ixy{k} Iyz{k} Izx{k}")
        frame = frame.orient_new_axis(f"B{k}", (3, 2, 1)[k % 3], x)
        centre = point.locate_new(f"C{k}", frame.vector(p["cx"], p["cy"], p["cz"]))
        s.body(f"body{k}", frame, centre, p["m"], inertia)
        point = point.locate_new(f"P{k}", frame.vector(p["lx"], 0, p["lz"]))
    s.gravity(s.N.z * "-g")
    e = kane_equations(s.mechanism(), runs=True)
    mass_and_bias(e)
    return e


def sympy_arm(n: int) -> object:
    """The same with SymPy."""
    from sympy import symbols
    from sympy.physics.mechanics import KanesMethod, Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

    q, u = dynamicsymbols(f"q:{n}"), dynamicsymbols(f"u:{n}")
    inertial, origin = ReferenceFrame("N"), Point("O")
    origin.set_vel(inertial, 0)
    frame, point, bodies, loads = inertial, origin, [], []
    for k in range(n):
        m, cx, cy, cz, lx, lz = symbols(f"m{k} cx{k} cy{k} cz{k} lx{k} lz{k}")
        axis = (frame.z, frame.y, frame.x)[k % 3]
        own = frame.orientnew(f"B{k}", "Axis", (q[k], axis))
        own.set_ang_vel(frame, u[k] * axis)
        centre = point.locatenew(f"C{k}", cx * own.x + cy * own.y + cz * own.z)
        centre.v2pt_theory(point, inertial, own)
        moments = inertia(own, *symbols(f"Ixx{k} Iyy{k} Izz{k} Ixy{k} Iyz{k} Izx{k}"))
        bodies.append(RigidBody(f"body{k}", centre, own, m, (moments, centre)))
        loads.append((centre, -m * symbols("g") * inertial.z))
        following = point.locatenew(f"P{k}", lx * own.x + lz * own.z)
        following.v2pt_theory(point, inertial, own)
        frame, point = own, following
    method = KanesMethod(inertial, q, u, kd_eqs=[b - a.diff() for a, b in zip(q, u, strict=True)])
    method.kanes_equations(bodies, loads)
    return method.mass_matrix_full, method.forcing_full


def bicycle(_: int) -> object:
    """The Carvallo-Whipple bicycle, nonlinear equations and the state matrix at 5 m/s."""
    example = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "bicycle.py"))
    return example["at_speed"](kane_equations(example["build"]().mechanism(), parameters=()), 5.0)


def sympy_bicycle(_: int) -> object:
    """SymPy's own test of the same benchmark."""
    from sympy.physics.mechanics.tests.test_kane3 import test_bicycle

    return test_bicycle()


def seconds(work: Callable[[int], Any], n: int, repeats: int = 1) -> float:
    """The best processor time of some runs."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        work(n)
        best = min(best, time.process_time() - start)
    return best


def main() -> None:
    """Print one line a case: ours, SymPy's, ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="all sizes: many minutes of SymPy")
    full = parser.parse_args().full
    import sympy

    print(f"SymPy {sympy.__version__}; processor seconds")
    cases: list[tuple[str, Callable[[int], Any], Callable[[int], Any], Sequence[int]]]
    cases = [("pendulum on a cart", pendulum, sympy_pendulum, range(1, 21) if full else (1, 2, 5, 8, 10))]
    cases.append(("spatial arm", arm, sympy_arm, range(1, 7) if full else (1, 2, 3)))
    cases += [("bicycle, linearised", bicycle, sympy_bicycle, (1,))] if full else []
    for name, ours, theirs, sizes in cases:
        ours(sizes[0])
        for n in sizes:
            own, other = seconds(ours, n, 5), seconds(theirs, n)
            print(f"{name:22s} {n:3d}  {own:9.4f}  {other:9.3f}  {other / own:8.0f} times", flush=True)


if __name__ == "__main__":
    main()
