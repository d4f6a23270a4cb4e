"""A four-bar linkage driven by a torque: a consistent start, a run, its energy balance, pictures."""

from __future__ import annotations

from pathlib import Path

from kane.mechanism.builder import System
from kane.simulation import SimulationResult, simulate


def build() -> System:
    """Crank OA 0.3 m, coupler AB 0.9 m, rocker CB 0.8 m on a ground of 1 m; uniform rods; a torque on the crank."""
    s = System("four_bar")
    N = s.N
    t1, t2, t3 = s.coordinates("t1 t2 t3")
    T = s.inputs("T")
    A, B, C = (N.orient_new_axis(n, 3, t) for n, t in zip("ABC", (t1, t2, t3), strict=True))
    ground = s.O.locate_new("C0", N.x)
    P = s.O.locate_new("P", A.x * 0.3)
    B1, B2 = P.locate_new("B1", B.x * 0.9), ground.locate_new("B2", C.x * 0.8)
    rods = (("crank", A, s.O, "0.3", "0.5"), ("coupler", B, P, "0.9", "1.2"), ("rocker", C, ground, "0.8", "0.9"))
    for name, frame, start, length, mass in rods:
        centre = start.locate_new(f"{name}*", frame.x * f"{length}/2")
        s.body(name, frame, centre, mass, (0, 0, f"{mass}*{length}**2/12"))
    s.gravity(N.y * -9.81)
    s.torque("drive", A, T * N.z)
    s.coincide("B", B1, B2, N, axes=(1, 2))
    return s


def run(seconds: float = 5.0) -> SimulationResult:
    """From a crank angle of 60 degrees and 2 rad/s; coupler and rocker follow from the loop, near the guess."""
    return simulate(
        build(), seconds, {"t1": 1.0471975511965976}, {"t1": 2.0}, guess={"t2": 0.6, "t3": 1.7}, inputs={"T": 0.4}
    )


if __name__ == "__main__":
    result = run()
    print(result.summary())
    out = Path("four_bar")
    out.mkdir(exist_ok=True)
    result.plot(out / "history.svg")
    result.animate(out / "motion.html")
    result.save(out / "run.npz")
    print(f"Wrote {out}/history.svg, motion.html (open it in a browser), run.npz")
