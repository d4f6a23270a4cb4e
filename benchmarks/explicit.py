"""Times (processor) of the explicit model: python benchmarks/explicit.py"""

from __future__ import annotations

import time
from collections.abc import Callable

from kane import robots
from kane.errors import UnsupportedError
from kane.explicit.abbreviate import abbreviate
from kane.explicit.model import explicit_model
from kane.explicit.program import program
from kane.mechanism.model import Mechanism
from kane.robots.generated import chain, symbolic_arm

PUMA_TWISTS = ("0", "-pi/2", "0", "pi/2", "-pi/2", "pi/2")


def timed(what: str, action: Callable[[], str]) -> None:
    best, text = float("inf"), ""
    for _ in range(3):
        start = time.process_time()
        text = action()
        best = min(best, time.process_time() - start)
    print(f"{what:60s} {best:8.3f} s  {text}")


def size(mechanism: Mechanism) -> str:
    try:
        model = explicit_model(mechanism, "symbolic")
    except UnsupportedError as error:
        return f"refused: {error.value} terms"
    return f"{len(model.inertia_constants)} + {len(model.gravity_constants)} constants, rank {model.rank}"


def main() -> None:
    timed("PUMA 560, parameters of the paper", lambda: size(robots.load("puma560")))
    timed("PUMA 560, every inertial and geometric parameter a symbol", lambda: size(symbolic_arm(PUMA_TWISTS)))
    for name in ("elbow3", "scara", "stanford", "rx90", "ur_like"):
        timed(name, lambda name=name: size(robots.load(name)))  # type: ignore[misc]
    timed("chain of 5 joints in general position", lambda: size(chain(5, seed=1, skew=False)))
    timed("chain of 7 joints in general position", lambda: size(chain(7, seed=1, skew=False)))
    model = explicit_model(robots.load("puma560"))
    timed("PUMA 560, exact inverse dynamics", lambda: f"{program(model).counts.total} operations")
    timed("PUMA 560, mass matrix", lambda: f"{program(model, 'mass_matrix').counts.total} operations")
    timed("PUMA 560, rule of the paper, 1 %", lambda: f"{abbreviate(model, 0.01, 'paper').counts.total} operations")
    timed("PUMA 560, certified, 1 %", lambda: f"{abbreviate(model, 0.01).counts.total} operations")


if __name__ == "__main__":
    main()
