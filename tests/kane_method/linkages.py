"""A four-bar linkage, declared by hand."""

from kane.mechanism.builder import System


def four_bar(torque=True, twice=False):
    """Ground pivots O and C, one apart; crank OA 0.3, coupler AB 0.9, rocker CB 0.8, closed at B; slender bars.

    torque: an input T drives the crank.  twice: the closure is stated a second time, in the velocities.
    """
    s = System("four_bar")
    t1, t2, t3 = s.coordinates("t1 t2 t3")
    N = s.N
    A, B, C = (N.orient_new_axis(n, 3, t) for n, t in zip("ABC", (t1, t2, t3), strict=True))
    C0 = s.O.locate_new("C0", N.x)
    P = s.O.locate_new("P", A.x * 0.3)
    B1 = P.locate_new("B1", B.x * 0.9)
    B2 = C0.locate_new("B2", C.x * 0.8)
    for name, frame, start, length, mass in (
        ("crank", A, s.O, "0.3", "0.5"),
        ("coupler", B, P, "0.9", "1.2"),
        ("rocker", C, C0, "0.8", "0.9"),
    ):
        centre = start.locate_new(f"{name}*", frame.x * f"{length}/2")
        s.body(name, frame, centre, mass, (0, 0, f"{mass}*{length}**2/12"))
    s.gravity(N.y * -9.81)
    if torque:
        s.torque("drive", A, s.inputs("T") * N.z)
    s.coincide("B", B1, B2, N, axes=(1, 2))
    if twice:
        s.nonholonomic("again", s.velocity(B1, N, N.x) - s.velocity(B2, N, N.x))
    return s
