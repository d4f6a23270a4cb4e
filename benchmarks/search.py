"""Operation counts of the search beside published records and the unsearched programs.

usage: python benchmarks/search.py [--effort normal] [--only puma560,panda] [file.urdf ...]

Rows: robot, task, count before and after (mul + add, divisions apart), the record, seconds of processor time. Robots of
the development wheels (panda, ur5, ur10, talos) are left out where the wheel is not installed.
"""

from __future__ import annotations

import argparse
import sys
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "search"))
from record_models import general, locked, puma_full, rx90, stanford

from kane.formats import read
from kane.mechanism.model import Mechanism
from kane.robots.bundled import load as bundled
from kane.search import optimise

ROBOTS = Path(sysconfig.get_path("purelib")) / "cmeel.prefix/share/example-robot-data/robots"
FILES = {
    "panda": ("panda_description/urdf/panda.urdf", "fixed"),
    "ur5": ("ur_description/urdf/ur5_robot.urdf", "fixed"),
    "ur10": ("ur_description/urdf/ur10_robot.urdf", "fixed"),
    "talos": ("talos_data/robots/talos_reduced.urdf", "floating"),
}
THREE = ("inverse_dynamics", "mass_matrix", "forward_dynamics")
RECORDS = {  # OpenSYMORO 2015, run on the same models
    ("puma560", "inverse_dynamics"): 349, ("puma560", "mass_matrix"): 248, ("puma560", "forward_dynamics"): 988,
    ("puma_full", "inverse_dynamics"): 541, ("rx90", "inverse_dynamics"): 513, ("stanford", "inverse_dynamics"): 473,
    ("stanford_diagonal", "inverse_dynamics"): 239, ("stanford_diagonal", "mass_matrix"): 151,
    ("general6r", "inverse_dynamics"): 846,
}  # fmt: skip


def cases(files: list[str]) -> Iterator[tuple[str, Mechanism, str, tuple[str, ...]]]:
    """Name, mechanism, parameters, tasks."""
    yield "puma560", bundled("puma560"), "numeric", THREE
    yield "puma_full", puma_full(), "symbolic", THREE[:1]
    yield "rx90", rx90(), "symbolic", THREE[:1]
    yield "stanford", stanford(), "symbolic", THREE[:1]
    yield "stanford_diagonal", stanford(diagonal=True), "symbolic", THREE[:2]
    yield "general6r", general(), "symbolic", THREE[:1]
    for small in ("scara", "elbow3", "two_link"):
        yield small, bundled(small), "numeric", THREE
    for name, (path, base) in FILES.items():
        if (ROBOTS / path).exists():
            yield name, locked(read(ROBOTS / path, base=base), "finger"), "numeric", THREE[:1]  # type: ignore[arg-type]
    for file in files:
        yield Path(file).stem, locked(read(file)), "numeric", THREE


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--effort", default="normal")
    parser.add_argument("--only", default="")
    parser.add_argument("files", nargs="*")
    given = parser.parse_args()
    wanted = set(filter(None, given.only.split(",")))
    columns = ("before", "after", "mul", "add", "div", "record", "seconds")
    print(f"{'robot':18s} {'task':17s}", *(f"{title:>7s}" for title in columns))
    for name, mechanism, parameters, tasks in cases(given.files):
        for task in tasks if not wanted or name in wanted else ():
            start = time.process_time()
            found = optimise(mechanism, task, parameters=parameters, effort=given.effort)  # type: ignore[arg-type]
            c, record = found.program.counts, RECORDS.get((name, task), "")
            spent = time.process_time() - start
            numbers = (found.unsearched.counts.total, c.total, c.mul, c.add, c.div, record, f"{spent:.1f}")
            print(f"{name:18s} {task:17s}", *(f"{number!s:>7s}" for number in numbers), flush=True)


if __name__ == "__main__":
    main()
