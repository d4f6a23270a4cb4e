"""Build the best peer of single calls: pinocchio's algorithms as CasADi graphs, printed as C, compiled with gcc.

    python benchmarks/peers/build.py ROBOT.urdf DIR        then        kane bench ROBOT.urdf --libraries DIR

Wants g++, and in this environment pinocchio (`pin`), casadi, and the headers of Boost and Eigen where pinocchio's
wheel does not bring them (wheels cmeel-boost and cmeel-eigen; --include FOLDER for others).  The program that makes the
graphs takes g++ some minutes and is kept in DIR/.. for the next robot; each robot then takes seconds.  Fixed base;
revolute, continuous and prismatic joints.  The same for vectors of states is made from that C code by vectors.py.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import vectors  # beside this file

HERE = Path(__file__).parent
# pinocchio's joint variants are longer than Boost's precompiled lists
DEFINES = (
    "NDEBUG", "BOOST_MPL_LIMIT_LIST_SIZE=30", "BOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "BOOST_FUSION_INVOKE_MAX_ARITY=12",
)  # fmt: skip


def model_text(path: str) -> str:
    """The tree with fixed joints lumped, one joint a line, as graphs.cpp reads it."""
    import pinocchio as pin

    model = pin.buildModelFromUrdf(path)
    lines = []
    for i in range(1, model.njoints):
        joint = model.joints[i].shortname().removeprefix("JointModel")
        kinds = {"RUBX": "RX", "RUBY": "RY", "RUBZ": "RZ", "RevoluteUnaligned": "R", "PrismaticUnaligned": "P"}
        kind = kinds.get(joint, joint)
        if joint.startswith("RUB"):
            print(f"joint {model.names[i]} is taken as an angle, as kane does", file=sys.stderr)
        axis = [0.0, 0.0, 1.0]
        if kind in ("R", "P"):
            axis = [float(x) for x in model.joints[i].extract().axis]
        at, body = model.jointPlacements[i], model.inertias[i]
        I = body.inertia
        numbers = [*at.rotation.ravel(), *at.translation, *axis, body.mass, *body.lever,
                   I[0, 0], I[0, 1], I[0, 2], I[1, 1], I[1, 2], I[2, 2]]  # fmt: skip
        lines.append(" ".join([str(model.parents[i]), kind, *(repr(float(x)) for x in numbers)]))
    return "\n".join(lines) + "\n"


def includes(extra: list[Path]) -> list[Path]:
    """Folders of headers: those given, and those of the wheels that are installed."""
    import casadi
    import pinocchio

    roots = [p for p in Path(pinocchio.__file__).parents if p.name == "cmeel.prefix"]
    found = [*extra, *(r / "include" for r in roots), Path(casadi.__file__).parent / "include", Path("/usr/include")]
    folders = [*found, *(f / "eigen3" for f in found)]
    needed = ("Eigen/Core", "boost/variant.hpp", "pinocchio/fwd.hpp", "casadi/casadi.hpp")
    missing = [n for n in needed if not any((f / n).exists() for f in folders)]
    if missing:
        sys.exit(f"headers missing: {', '.join(missing)}; install cmeel-eigen, cmeel-boost, pin, casadi, or --include")
    return [f for f in folders if f.exists() and f != Path("/usr/include")]


def program(folder: Path, extra: list[Path]) -> Path:
    """The compiled graphs.cpp."""
    import casadi

    made = folder / "graphs"
    if not made.exists():
        library = Path(casadi.__file__).parent
        flags = [f"-I{f}" for f in includes(extra)] + [f"-D{d}" for d in DEFINES]
        command = ["g++", "-std=c++17", "-O1", *flags, str(HERE / "graphs.cpp"), f"-L{library}", "-lcasadi"]
        print("compiling graphs.cpp, some minutes", file=sys.stderr)
        subprocess.run([*command, f"-Wl,-rpath,{library}", "-o", str(made)], check=True)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robot")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--include", type=Path, action="append", default=[])
    options = parser.parse_args()
    folder: Path = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    made = program(folder.parent, options.include)
    (folder / "model.txt").write_text(model_text(options.robot))
    subprocess.run([str(made), str(folder / "model.txt"), str(folder)], check=True)

    import casadi

    for graph in sorted(folder.glob("*.casadi")):
        name = graph.stem
        raw = casadi.Function.load(str(graph))
        symbols = [casadi.SX.sym(f"x{i}", raw.sparsity_in(i)) for i in range(raw.n_in())]
        shared = casadi.Function(name, symbols, casadi.cse(raw.call(symbols, True, False)))
        shared.generate(f"{name}.c", {"casadi_int": "long long int"})
        Path(f"{name}.c").rename(folder / f"{name}.c")
        sources = [str(folder / f"{name}.c"), "-o", str(folder / f"{name}.so"), "-lm"]
        subprocess.run(["gcc", "-O3", "-march=native", "-fPIC", "-shared", *sources], check=True)
        print(folder / f"{name}.so")
    vectors.build(folder)


if __name__ == "__main__":
    main()
