"""The 2R robot of Buffinton, "Kane's Method in Robotics", section 6.3, every step.

Two particles on two massless links.
"""

from kane.equations.projection import kane_equations
from kane.equations.steps import work_out
from kane.mechanism.builder import System, dot


def build(damping: bool = False, tip_force: bool = False) -> System:
    """The robot with its drive torques.

    With joint damping (eq. 6.28) and a force on the tip (eq. 6.27) when asked for.
    """
    s = System("two_link")
    N, O = s.N, s.O
    q1, q2 = s.coordinates("q1 q2")
    m, L, g = s.parameters("m L g")
    u1, u2 = s.speeds(u1=dot(q1), u2=dot(q2))  # eq. 6.12, 6.13
    A = N.orient_new_axis("A", 3, q1)
    B = A.orient_new_axis("B", 3, q2)
    P1 = O.locate_new("P1", L * A.x)
    P2 = P1.locate_new("P2", L * B.x)
    s.particle("P1", P1, m)
    s.particle("P2", P2, m)
    s.gravity(-g * N.x)
    T_A, T_AB = s.inputs("T_A T_AB")
    s.torque("motor A", A, T_A * A.z)
    s.torque_pair("motor AB", B, A, T_AB * B.z)
    if damping:
        b1, b2 = s.parameters("b1 b2")
        s.torque("damper A", A, -b1 * u1 * A.z)
        s.torque_pair("damper AB", B, A, -b2 * u2 * B.z)
    if tip_force:
        F_x, F_y = s.inputs("F_x F_y")
        s.force("tip", P2, F_x * N.x + F_y * N.y)
    return s


if __name__ == "__main__":
    print(work_out(kane_equations(build().mechanism())))
