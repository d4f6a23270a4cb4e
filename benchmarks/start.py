"""How long it takes to get going: import, derivation, first compiled call; python benchmarks/start.py

Each line in a process of its own (import) or with everything imported (the others), nothing taken from the disk cache;
processor time of the process, the least of some repeats.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

Line = tuple[str, float, float]  # what, seconds, what it should be at most


def least(action: Callable[[], object], repeats: int = 3) -> float:
    times = []
    for _ in range(repeats):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return min(times)


def import_seconds(repeats: int = 5) -> float:
    """Processor time of an interpreter that imports kane, less one that does nothing."""
    script = "import time; {}; print(time.process_time())"
    times = []
    for statement in ("pass", "import kane"):
        runs = [subprocess.run([sys.executable, "-c", script.format(statement)], capture_output=True, check=True)
                for _ in range(repeats)]  # fmt: skip
        times.append(min(float(run.stdout) for run in runs))
    return times[1] - times[0]


def lines() -> list[Line]:
    import kane
    from kane.equations.derive import derive_task
    from kane.formats import read_urdf
    from kane.native import compile_program
    from kane.robots.generated import chain

    def derived(mechanism: object) -> object:
        return derive_task(mechanism, "inverse_dynamics").program  # type: ignore[arg-type]

    def ready(robot: kane.Robot) -> Callable[[], object]:
        def run() -> object:
            f = compile_program(kane.derive(robot).program("inverse_dynamics"), cache=False)
            return f(*(np.zeros(i.size) for i in f.program.inputs))

        return run

    puma = kane.load("puma560")
    ready(puma)()  # loads LLVM
    long = chain(100, skew=False)
    found = [
        ("import kane", import_seconds(), 0.2),
        ("PUMA 560: inverse dynamics derived", least(lambda: derived(puma.mechanism)), 0.05),
        ("PUMA 560: ready to call", least(ready(puma)), 0.3),
        ("chain of 100 links: derived", least(lambda: derived(long)), 0.5),
    ]
    file = talos()
    if file is not None:
        humanoid = kane.load(file, base="floating", nonphysical="accept")
        found += [
            ("talos: URDF read", least(lambda: read_urdf(file), 5), 0.03),
            ("talos: inverse dynamics derived", least(lambda: derived(humanoid.mechanism), 2), 1.0),
            ("talos: ready to call", least(ready(humanoid), 2), 2.0),
        ]
    found += [
        (f"{path.name}: {what} of {path.stat().st_size // 1000} kB read", least(reading(path), 5), 0.2)
        for what, path in largest()
    ]
    return found


def reading(path: Path) -> Callable[[], object]:
    from kane.formats import read

    return lambda: read(path, constraints="ignore")


def largest() -> list[tuple[str, Path]]:
    """The largest URDF and MJCF files that are read of the wheels that are installed (make sweep installs more)."""
    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    try:
        from robot_files import REFUSED, urdf_files, wheel_files
    except ImportError:
        return []
    urdf = [path for name, path in urdf_files().items() if name not in REFUSED]
    dog = wheel_files(".xml", b"<mujoco").get("dm_control/suite/dog.xml")  # its inertia from 100 meshes, by MuJoCo
    found = [("URDF", max(urdf, key=lambda path: (path.stat().st_size, str(path))))] if urdf else []
    return found + ([] if dog is None else [("MJCF", dog)])


def talos() -> Path | None:
    """The file of the humanoid from example-robot-data, where its wheel is installed."""
    try:
        import pinocchio
    except ImportError:
        return None
    prefix = [p for p in Path(pinocchio.__file__).parents if p.name == "cmeel.prefix"]
    folder = (prefix or [Path("/nowhere")])[0] / "share" / "example-robot-data" / "robots" / "talos_data"
    found = sorted(folder.rglob("talos_reduced.urdf"))
    return found[0] if found else None


def main() -> None:
    for what, seconds, limit in lines():
        print(f"{what:40s} {seconds:8.3f} s   (at most {limit:g} s){'' if seconds <= limit else '   TOO SLOW'}")


if __name__ == "__main__":
    main()
