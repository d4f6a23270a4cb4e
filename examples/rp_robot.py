"""The RP robot of Buffinton, "Kane's Method in Robotics", section 6.4.

Three bodies, and a prismatic joint with its force pair.
"""

from kane.equations.projection import kane_equations
from kane.equations.steps import work_out
from kane.mechanism.builder import System


def build() -> System:
    """A turns in the horizontal plane, B slides in A, C is fixed to B.

    B is driven by forces on the coinciding points P of A and P-hat of B.
    """
    s = System("rp_robot")
    q1, q2 = s.coordinates("q1 q2")
    LA, LP, L, LC = s.parameters("LA LP L LC")
    mA, mB, mC, IA, IB, IC = s.parameters("mA mB mC IA IB IC")
    A = s.N.orient_new_axis("A", 3, q1)
    B = A.orient_new_axis("B", 3, 0)
    C = B.orient_new_axis("C", 3, 0)
    Ao = s.O.locate_new("A*", LA * A.y)
    P = s.O.locate_new("P", LP * A.x + LA * A.y)
    Bo = P.locate_new("B*", (q2 - L / 2) * A.x)
    Co = P.locate_new("C*", (q2 + LC) * A.x)
    s.speeds(u1=s.angular_velocity(A, s.N, A.z), u2=s.velocity(Co, A, A.x))  # eq. 6.29, 6.30
    s.body("A", A, Ao, mA, (0, 0, IA))
    s.body("B", B, Bo, mB, (0, 0, IB))
    s.body("C", C, Co, mC, (0, 0, IC))
    T_A, F_AB = s.inputs("T_A F_AB")
    s.torque("motor A", A, T_A * A.z)
    s.force_pair("drive AB", P, B, A, F_AB * A.x)
    return s


if __name__ == "__main__":
    print(work_out(kane_equations(build().mechanism()), abbreviations={"xB": "LP + q2 - L/2", "xC": "LP + q2 + LC"}))
