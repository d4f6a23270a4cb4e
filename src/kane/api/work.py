"""The work behind the commands: derive, check, count; results as dictionaries in the shapes of the JSON output."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kane.api.equations import DEFAULT_TASKS, Equations, derive
from kane.api.explicit import Abbreviated, Explicit
from kane.api.robot import Robot
from kane.api.summary import conventions, header, import_notes, shown
from kane.equations.derive import Derived
from kane.mechanism.given import Described

Progress = Callable[[str], None]


@dataclass
class Stages:
    """Named stages of a piece of work and the time each took."""

    progress: Progress = lambda text: None
    times: list[dict[str, Any]] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str) -> Any:
        """Announce a stage and time it."""
        self.progress(name)
        start = time.perf_counter()
        yield
        self.times.append({"name": name, "seconds": round(time.perf_counter() - start, 6)})


def derive_work(
    robot: Robot, out: Path | None = None, tasks: Sequence[str] = DEFAULT_TASKS, effort: Any = "low",
    progress: Progress = lambda text: None,
) -> dict[str, Any]:  # fmt: skip
    """Equations, counts, verification and files of a robot, in the shape of `kane derive --json`."""
    stages = Stages(progress)
    equations = derive(robot, effort=effort)
    counts: dict[str, Any] = {}
    for task in tasks:
        with stages.stage(f"derive {task}"):
            counts[task] = equations.program(task).counts.as_dict()
    with stages.stage("verify"):
        checks = verification(equations, tasks)
    files: list[str] = []
    if out is not None:
        with stages.stage("write"):
            files = write_results(robot, equations, tasks, checks, out)
    return {
        **header(robot, "derive"),
        "counts": counts,
        "verification": checks,
        "stages": stages.times,
        "files": files,
    }


LAW_TASKS = (*DEFAULT_TASKS, "coriolis_matrix", "kinetic_energy", "potential_energy", "kinematic_equations")


def verification(equations: Equations, tasks: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The checks of physical laws, exact identities and of the independent witness.

    The programs of `tasks` are the ones that are used, searched; what else the laws need is taken as derived.
    """
    from kane.verification.exact import exact_checks
    from kane.verification.laws import verify

    mechanism = equations.mechanism
    functions = {task: equations.derived(task).program for task in LAW_TASKS}
    functions |= {task: equations.program(task) for task in tasks}
    values = [1.0 if value is None else value for value in equations.parameter_values]
    physical = not mechanism.report.of("nonphysical")
    checks = verify(mechanism, functions, parameters=values, physical=physical)
    return [c.as_dict() for c in (*checks, *exact_checks(mechanism, equations.parameters))]


def check_work(robot: Robot, source: str | None, progress: Progress = lambda text: None) -> dict[str, Any]:
    """Import report, physical laws and comparison with other libraries, in the shape of `kane check --json`.

    source: the file, where there is one that other libraries can read.
    """
    from kane.verification.differences import differences
    from kane.verification.mjcf_oracle import compare_mjcf
    from kane.verification.oracles import comparable, compare_mujoco, compare_pinocchio

    progress("physical laws")
    checks = verification(derive(robot), DEFAULT_TASKS)
    form = robot.report.format if source is not None and robot.coordinate_names else ""
    if source is not None and form == "mjcf":
        progress("MuJoCo")
        equations = derive(robot)
        functions = {task: equations.program(task) for task in LAW_TASKS[:-1]}
        checks += [c.as_dict() for c in compare_mjcf(source, robot.mechanism, functions)]
    elif source is not None and form == "urdf":
        bare = comparable(robot.mechanism)
        equations = derive(bare)
        functions = {task: equations.program(task) for task in LAW_TASKS[:-1]}
        for library, compare in (("pinocchio", compare_pinocchio), ("MuJoCo", compare_mujoco)):
            progress(library)
            checks += [c.as_dict() for c in compare(source, bare, functions)]
    return {
        **header(robot, "check"), "import": import_notes(robot), "conventions": conventions(robot),
        "differences": list(differences(robot.mechanism)) if form else [], "verification": checks,
    }  # fmt: skip


def counts_work(
    robot: Robot, tasks: Sequence[str] = DEFAULT_TASKS, effort: Any = "normal", progress: Progress = lambda text: None,
    trace: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Operations of each task by each method, in the shape of `kane counts --json`.

    Searched programs also with the instructions they are compiled to, a multiply-add as one.  trace: with the origin
    of every operation of the searched programs.
    """
    from kane.api.trace import trace_searched
    from kane.native.quickest import instructions
    from kane.search import check_effort, method_table

    check_effort(effort)
    parts: dict[str, list[Any]] = {"tasks": [], "trail": [], "notes": []}
    traced: list[Any] = []
    silent: dict[str, None] = {}
    for task in tasks:
        progress(f"count {task}")
        name, _, frame = task.partition(":")
        table = method_table(robot.mechanism, name, effort, frame or None)
        made = table.as_dict()
        rows: Any = made["tasks"]
        rows[-1]["instructions"] = instructions(table.searched.program)
        for key, values in made.items():
            parts[key] += values  # type: ignore[arg-type]
        if trace:
            progress(f"trace {task}")
            found, sources = trace_searched(robot.mechanism, table.searched, frame=frame or None)
            traced += [{"task": task, **item.as_dict()} for item in found]
            silent |= dict.fromkeys(sources.silent)
    if silent:
        parts["notes"].append(f"Of value 1, so that no operation is left of them: {', '.join(silent)}.")
    head = header(robot, "counts")
    result = {**head, **parts, "notes": list(dict.fromkeys([*head["notes"], *parts["notes"]]))}
    return result | ({"trace": traced} if trace else {})


LEVELS = (0.001, 0.01, 0.05)  # tolerances of the report's abbreviation slider


def report_page(
    robot: Robot, effort: Any = "low", tolerances: Sequence[float] = LEVELS, progress: Progress = lambda text: None
) -> tuple[str, list[dict[str, Any]]]:
    """The report as one HTML text, and the checks in it.  tolerances: levels of the abbreviation slider."""
    from kane.report import Given, Options, build_report, render

    progress("verify")
    equations = derive(robot, effort=effort)
    checks = verification(equations, DEFAULT_TASKS)
    progress("count")
    methods = counts_work(robot, DEFAULT_TASKS, "low")["tasks"]
    given = Given(derived=_searched(equations, DEFAULT_TASKS), checks=checks, methods=methods, notes=code_notes(robot))
    page = build_report(robot.mechanism, Options(tolerances=tuple(tolerances)), given, progress=progress)
    return render(page), checks


def _searched(equations: Equations, tasks: Sequence[str]) -> dict[str, Derived]:
    """The tasks as they are used and written as code, for a page that shows them."""
    return {t: replace(equations.derived(t), program=equations.program(t), method="searched") for t in tasks}


def report(
    robot: Described, path: str | Path = "report.html", effort: Any = "low", tolerances: Sequence[float] = LEVELS
) -> Path:
    """Write the report of a robot, one self-contained HTML file.

    effort: as in kane.derive.  tolerances: levels of the abbreviation slider.
    """
    path = Path(path)
    page, _ = report_page(Robot(robot), effort, tolerances)
    write({path.name: page}, path.parent)
    return path


def bench_work(
    robot: Robot, source: str | None, libraries: Path | None = None, progress: Progress = lambda text: None
) -> dict[str, Any]:
    """Times of ours beside the installed libraries', checked for equal results first, as `kane bench --json`.

    Of each task the form that runs quickest in single calls is timed; "running" has its operations and those counted.
    """
    from kane.benchmark.peers import installed_peers
    from kane.benchmark.run import TASKS as BENCH_TASKS
    from kane.benchmark.run import bench
    from kane.native import quickest

    checks = check_work(robot, source, progress)["verification"]
    floating = any(joint.type == "floating" for joint in robot.mechanism.joints)
    note = ""
    if source is not None:
        peers = installed_peers(source, floating)
    else:
        peers, note = _peers_of_written(robot, floating)
    equations = derive(robot)
    running = {}
    for task in BENCH_TASKS:
        progress(f"{task}: forms")
        running[task] = quickest(equations.forms(task))
    result = bench({task: found.program for task, found in running.items()}, peers, libraries, progress)
    result["compared"] += [note] * bool(note)
    forms = [{"task": task, **found.as_dict()} for task, found in running.items()]
    return {**header(robot, "bench"), "verification": checks, "running": forms, **result}


def _peers_of_written(robot: Robot, floating: bool) -> tuple[tuple[Any, ...], str]:
    """The installed libraries on a URDF file that is written for them, and what they do without."""
    import tempfile

    from kane.benchmark.peers import installed_peers
    from kane.errors import KaneError
    from kane.formats import write_urdf

    try:
        text = write_urdf(robot.mechanism)
    except KaneError as error:
        return (), f"no library: {error}"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "robot.urdf"
        file.write_text(_with_limits(text), encoding="utf-8")
        peers = installed_peers(file, floating)
    rotors = any(joint.rotor is not None for joint in robot.mechanism.joints)
    return peers, "libraries read the robot as URDF" + ", without its rotors" * rotors


def _with_limits(text: str) -> str:
    """URDF text with a limit on every joint that needs one for urdfdom's reader."""
    from xml.etree import ElementTree

    root = ElementTree.fromstring(text)
    for joint in root.findall("joint"):
        if joint.get("type") in ("revolute", "prismatic") and joint.find("limit") is None:
            ElementTree.SubElement(joint, "limit", {"lower": "-9", "upper": "9", "effort": "9", "velocity": "9"})
    return ElementTree.tostring(root, encoding="unicode")


def code_notes(robot: Robot) -> tuple[str, ...]:
    """Conventions for the header of generated code."""
    gravity = ", ".join(shown(robot, x) for x in robot.mechanism.gravity)
    notes = [
        f"Robot: {robot.name}.  Gravity ({gravity}) m/s^2 in axes of N, pointing where things fall.",
        "SI units; M(q) udot + bias = tau; joints in file order.",
        "Rigid-body tasks leave friction and damping out.",
    ]
    if any("qw" in name for name in robot.coordinate_names):
        notes.append(
            "Floating or spherical joints: quaternion (w, x, y, z), taken as unit; speeds: angular velocity, then "
            "velocity of the origin, both in body axes."
        )
    notes += [note.text for note in robot.report.of("nonphysical")]
    return tuple(notes)


def write_results(
    robot: Robot, equations: Equations, tasks: Sequence[str], checks: list[dict[str, Any]], out: Path
) -> list[str]:
    """C code with self-test, the text of the equations and the report in a folder; all files or none."""
    from kane.report import Given, Options, build_report, render

    files = code_files(robot, equations, tasks, "c") | code_files(robot, equations, tasks, "text")
    plain = [(task, equations.derived(task)) for task in tasks]
    methods = [{"task": task, "method": d.method, "counts": d.program.counts.as_dict()} for task, d in plain]
    given = Given(derived=_searched(equations, tasks), checks=checks, methods=methods, notes=code_notes(robot))
    return write(files | {"report.html": render(build_report(robot.mechanism, Options(tolerances=()), given))}, out)


def code_files(
    robot: Robot, equations: Equations, tasks: Sequence[str], target: str, precision: Any = "double"
) -> dict[str, str]:
    """File names and texts of the tasks in a target language; "jacobian:tool" names a task of a frame."""
    from kane.emit import emit

    programs = []
    for task in tasks:
        name, _, frame = task.partition(":")
        programs.append(equations.program(name, frame or None))
    return emit(programs, target=target, name=robot.name, precision=precision, notes=code_notes(robot))


def explicit_files(robot: Robot, shown: Explicit | Abbreviated) -> dict[str, str]:
    """C code of the explicit (or abbreviated) inverse dynamics and the page of equations."""
    from kane.emit import emit

    code = shown.program if isinstance(shown, Abbreviated) else shown.program()
    notes = [*code_notes(robot)]
    if isinstance(shown, Abbreviated):
        notes += [
            f"Abbreviated: |torque error of {c.joint}| <= {c.bound:.4g} for {c.ranges} ({c.method})"
            for c in shown.certificate
        ]
    name = f"{robot.name}_explicit"
    files = emit([code], target="c", name=name, notes=notes)
    first = next(file for file in files if file.endswith(".h"))  # its stem is safe: names may hold "/"
    return files | {f"{first[:-2]}.txt": str(shown)}


def write(files: dict[str, str], out: Path) -> list[str]:
    """Write the files into the folder, all or nothing; returns their paths."""
    from kane.emit import write_files

    write_files(files, out)
    return [str(out / name) for name in files]
