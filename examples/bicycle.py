"""The Carvallo-Whipple bicycle, nonlinear, then linearised at a speed.

Parameters: Meijaard, Papadopoulos, Ruina and Schwab 2007.
"""

import numpy as np

from kane.equations.projection import Equations, kane_equations
from kane.linearization.linear import LinearSystem, linearize
from kane.linearization.operating import Jacobians, jacobians
from kane.mechanism.builder import System

BENCHMARK = {
    "w": 1.02, "c": 0.08, "lam": 0.3141592653589793, "g": 9.81, "rR": 0.3, "mR": 2, "IRxx": 0.0603, "IRyy": 0.12,
    "xB": 0.3, "zB": -0.9, "mB": 85, "IBxx": 9.2, "IBxz": 2.4, "IByy": 11, "IBzz": 2.8,
    "xH": 0.9, "zH": -0.7, "mH": 4, "IHxx": 0.05892, "IHxz": -0.00756, "IHyy": 0.06, "IHzz": 0.00708,
    "rF": 0.35, "mF": 3, "IFxx": 0.1405, "IFyy": 0.28,
}  # fmt: skip


def build() -> System:
    """x forward, y to the right, z down.  Rear frame B, front frame H, wheels R and F; rear contact P at (x, y)."""
    s = System("bicycle")
    x, y, yaw, lean, pitch, steer, turnR, turnF = s.coordinates("x y yaw lean pitch steer turnR turnF")
    s.parameters(**BENCHMARK)
    N = s.N
    Y = N.orient_new_axis("Y", 3, yaw)
    L = Y.orient_new_axis("L", 1, lean)
    B = L.orient_new_axis("B", 2, pitch)
    R = L.orient_new_axis("R", 2, turnR)
    S = B.orient_new_axis("S", 2, "lam")
    T = S.orient_new_axis("T", 3, steer)
    H = T.orient_new_axis("H", 2, "-lam")
    F = H.orient_new_axis("F", 2, turnF)
    P = s.O.locate_new("P", x * N.x + y * N.y)
    Ro = P.locate_new("R*", L.z * "-rR")
    Bo = Ro.locate_new("B*", B.vector("xB", 0, "zB + rR"))
    K = Ro.locate_new("K", B.vector("w + c", 0, "rR"))  # where the steering axis meets the ground when upright
    Ho = K.locate_new("H*", H.vector("xH - w - c", 0, "zH"))
    Fo = K.locate_new("F*", H.vector("-c", 0, "-rF"))
    tilt = s.dot(N.z, H.y)
    Q = Fo.locate_new("Q", ((-tilt) * H.y + N.z) * ("rF" / (1 - tilt**2) ** "1/2"))  # lowest point of the front wheel
    s.body("rear wheel", R, Ro, "mR", ("IRxx", "IRyy", "IRxx"))
    s.body("rear frame", B, Bo, "mB", ("IBxx", "IByy", "IBzz", 0, 0, "IBxz"))
    s.body("front frame", H, Ho, "mH", ("IHxx", "IHyy", "IHzz", 0, 0, "IHxz"))
    s.body("front wheel", F, Fo, "mF", ("IFxx", "IFyy", "IFxx"))
    s.gravity(N.z * "g")
    lean_torque, steer_torque = s.inputs("lean_torque steer_torque")
    s.torque("lean", B, lean_torque * Y.x)
    s.torque_pair("steer", H, B, steer_torque * S.z)
    s.roll("rear", R, P, N, N)
    s.roll("front", F, Q, N, N)
    s.holonomic("front contact", s.position(Q, s.O, N.z))
    return s


def at_speed(e: Equations | Jacobians, v: float) -> LinearSystem:
    """Upright and straight ahead at speed v: the four states lean, steer and their rates."""
    q = np.zeros(8)
    u = [v, 0, 0, 0, 0, 0, -v / BENCHMARK["rR"], -v / BENCHMARK["rF"]]
    states = (("x", "y", "yaw", "lean", "steer", "turnR", "turnF"), ("lean_dot", "steer_dot", "turnR_dot"))
    return linearize(e, q, u, independent=states)


if __name__ == "__main__":
    print("speed, m/s: eigenvalues of lean and steer, 1/s")
    equations = jacobians(kane_equations(build().mechanism(), parameters=()))
    for speed in range(11):
        whole = at_speed(equations, speed)
        at = [whole.states.index(n) for n in ("lean", "steer", "lean_dot", "steer_dot")]
        values = np.sort_complex(np.linalg.eigvals(whole.A[np.ix_(at, at)]))
        print(f"{speed:2d}:", "  ".join(f"{x.real:.6f}{x.imag:+.6f}i" if x.imag else f"{x.real:.6f}" for x in values))
