"""The RP robot of Buffinton with an elastic arm (section 6.5.3): an unrestrained beam slides through the joint.

The beam has its rigid-body modes and bending modes; the joint holds it as constraints at the place that is in the joint
at the instant, s_P = 1 - q2 / L: no deflection and no slope there.
"""

import numpy as np

from kane.equations.constrained import constrained
from kane.equations.projection import kane_equations
from kane.linearization.linear import linearize
from kane.mechanism.beams import free_free
from kane.mechanism.builder import System
from kane.mechanism.formula import formula

LENGTH, DENSITY, RIGIDITY = 1.0, 2.0, 40.0


def build(modes: int, held: float | None = None) -> System:
    """A turns about the vertical (q1), the beam slides along a1 (q2: what sticks out), a tip body C at its end.

    held: q1 and q2 stay at 0 and at this length, and there is no tip body: to look at the vibrations alone.
    """
    s = System("rp_elastic")
    q1, q2 = s.coordinates("q1 q2") if held is None else (formula(0), formula(held))
    d = s.coordinates(" ".join(f"d{k + 1}" for k in range(modes)))
    A = s.N.orient_new_axis("A", 3, q1)
    s.body("A", A, s.O.locate_new("A*", A.y * 0.2), 10, (0, 0, 2))
    rear = s.O.locate_new("rear", A.vector(0.1 + q2 - LENGTH, 0.2, 0))
    beam = s.beam("beam", A, rear, free_free(modes), d, LENGTH, DENSITY, RIGIDITY)
    place = 1 - q2 / LENGTH
    s.holonomic("support", beam.deflection(place))
    s.holonomic("clamp", beam.slope(place))
    if held is None:
        tip, T = s.beam_end("tip", beam)
        s.body("C", T, tip, 6, (0, 0, 0.1))
        T_A, F_AB = s.inputs("T_A F_AB")
        s.torque("motor A", A, T_A * A.z)
        s.force_pair("drive AB", rear, s.frames["beam.root"], A, F_AB * A.x)
    return s


def frequencies(modes: int, out: float) -> np.ndarray:
    """The two lowest frequencies, rad/s, with the joints held and `out` metres of the beam out of the joint."""
    linear = linearize(kane_equations(build(modes, out).mechanism()), np.zeros(modes), np.zeros(modes))
    return np.sort(np.abs(linear.eigenvalues.imag))[::2][:2]


def cantilever(length: float) -> float:
    """The lowest frequency of a cantilever, rad/s."""
    return 1.875104068711961**2 / length**2 * np.sqrt(RIGIDITY / DENSITY)


if __name__ == "__main__":
    for part in (0.4, 0.6, 0.8):
        both = cantilever(part), cantilever(LENGTH - part)
        print(f"{part} m out: {frequencies(10, part)} rad/s; cantilevers on both sides of the joint: {np.sort(both)}")
    c = constrained(kane_equations(build(4).mechanism()))
    q = np.array([0, 0.6, 0, 0, 0, 0])
    motion = c.accelerations(q, c.consistent_speeds(q, [1, 0.2, 0, 0, 0, 0], keep=("q1", "q2")), f=[4.0, -3.0])
    print("q1'', q2'':", motion.udot[:2], " force of the joint on the beam:", motion.reaction("support"))
