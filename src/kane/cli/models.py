"""Commands about the model: derive, check, counts, explicit, bench, code."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, cast

from cyclopts import Parameter
from rich.table import Table

from kane.api import work
from kane.api.equations import DEFAULT_TASKS, derive
from kane.api.explicit import explicit, share
from kane.api.robot import Robot
from kane.api.summary import header, summary
from kane.api.trace import line_of
from kane.cli.common import DEFAULTS, Loading, RobotName, app, finish, out_console, progress_line, wrote
from kane.cli.numbers import Listed, several, state
from kane.robots.literature import published


@app.command(name="derive")
def derive_(
    robot: RobotName, *, out: Path | None = None, effort: str = "low", loading: Loading = DEFAULTS
) -> int:  # fmt: skip
    """Equations of motion: counts, verification, and with --out C code, its self-test, the equations and the report.

    Args:
        out: Folder for the C code, its self-test and an example, the equations as text and the report page.
        effort: Of the search for few operations: low takes a second, normal half a minute, high minutes.
    """
    with progress_line(loading.json) as progress:
        model = loading.load(robot)
        result = work.derive_work(model, out, effort=effort, progress=progress)

    def show(result: dict[str, Any]) -> None:
        out_console.print(summary(model), highlight=False, markup=False)
        _show_counts(model, result["counts"])
        _show_checks(result["verification"])
        times = ", ".join(f"{s['name']} {1e3 * s['seconds']:.0f} ms" for s in result["stages"])
        out_console.print(f"\nTime: {times}", highlight=False, markup=False)
        wrote(result["files"])

    return finish(result, loading, show)


_TITLES = {"conventions": "Conventions", "differences": "Otherwise in pinocchio and MuJoCo"}


@app.command
def check(robot: RobotName, *, loading: Loading = DEFAULTS) -> int:
    """Import report, physical laws, and comparison with pinocchio and MuJoCo where they are installed."""
    with progress_line(loading.json) as progress:
        model = loading.load(robot)
        result = work.check_work(model, robot if Path(robot).exists() else None, progress)

    def show(result: dict[str, Any]) -> None:
        out_console.print(summary(model), highlight=False, markup=False)
        for title in ("conventions", "differences"):
            if result[title]:
                lines = "\n".join(f"  {line}" for line in result[title])
                out_console.print(f"\n{_TITLES[title]}:\n{lines}", highlight=False, markup=False)
        _show_checks(result["verification"])

    return finish(result, loading, show)


@app.command
def counts(
    robot: RobotName, *, effort: str = "normal", task: tuple[str, ...] = DEFAULT_TASKS, trace: bool = False,
    loading: Loading = DEFAULTS,
) -> int:  # fmt: skip
    """Operations of each task by each method, and what each pass of the search saved.

    Args:
        effort: Of the search: low tries origins and small explicit forms, normal all passes, high more of each.
        task: Tasks to count: a,b,c, or --task again for each; task:frame for a task of a frame (jacobian:tool).
        trace: List every operation with its origin: [terms] parameters of bodies -> outputs.
    """
    with progress_line(loading.json) as progress:
        model = loading.load(robot)
        result = work.counts_work(model, several(task), effort, progress, trace)
    result["notes"] += unused(result["tasks"], effort)

    def show(result: dict[str, Any]) -> None:
        _show_methods(result["tasks"])
        _show_trail(result["trail"])
        for note in result["notes"]:
            out_console.print(note, highlight=False, markup=False, soft_wrap=True)
        for name in dict.fromkeys(row["task"] for row in result.get("trace", ())):
            lines = [line_of(row) for row in result["trace"] if row["task"] == name]
            out_console.print("\n".join(["", name, *lines]), highlight=False, markup=False, soft_wrap=True)

    return finish(result, loading, show)


@app.command
def code(
    robot: RobotName, *, target: str = "c", task: tuple[str, ...] = DEFAULT_TASKS, out: Path = Path(),
    precision: Literal["double", "float"] = "double", effort: str = "low", loading: Loading = DEFAULTS,
) -> int:  # fmt: skip
    """Write the tasks in a target language: C, NumPy, JAX, CasADi, Julia, MATLAB, Rust, LaTeX, MathML or text.

    Args:
        target: c, numpy, jax, casadi, julia, matlab, rust, latex, mathml or text.
        task: Tasks to write: a,b,c, or --task again for each; task:frame for a task of a frame (jacobian:tool).
        out: Folder for the files.
        precision: Of the numbers in the code.
        effort: Of the search for few operations: low takes a second, normal half a minute, high minutes.
    """
    with progress_line(loading.json) as progress:
        model = loading.load(robot)
        progress("searching" if effort != "low" else "deriving")
        equations = derive(model, effort=cast(Any, effort))
        files = work.write(work.code_files(model, equations, several(task), target, precision), out)
    result = {**header(model, "code"), "files": files}

    def show(result: dict[str, Any]) -> None:
        wrote(result["files"])

    return finish(result, loading, show)


@Parameter(name="*")
@dataclass(frozen=True)
class Ranges:
    """Over what an abbreviation is certified: 1,2,... or q1=1,q2=2; else the robot's own limits."""

    speed: Listed = ""
    "Greatest |qd| of each coordinate, rad/s or m/s."
    acceleration: Listed = ""
    "Greatest |qdd| of each coordinate."
    reference: Listed = ""
    "Torque or force of each coordinate that the tolerance is a share of."
    lower: Listed = ""
    "Lower end of each coordinate."
    upper: Listed = ""
    "Upper end of each coordinate."

    def given(self) -> dict[str, Any]:
        found = {f.name: state(f.name, getattr(self, f.name)) for f in fields(self)}
        return {name: values for name, values in found.items() if values is not None}


@app.command(name="explicit")
def explicit_(
    robot: RobotName, *, tolerance: str | None = None, rule: Literal["certified", "paper"] = "certified",
    symbolic: bool = False, out: Path | None = None, ranges: Ranges = Ranges(), loading: Loading = DEFAULTS,
) -> int:  # fmt: skip
    """The explicit model in lumped constants, with --tolerance 1% abbreviated.

    Args:
        tolerance: Leave out what changes no torque by more than this share (1% or 0.01) of the torque limits.
        rule: certified: the error of each torque is proved; paper: Armstrong, Khatib and Burdick's significance rule.
        symbolic: Masses, lengths and inertias stay letters in the constants.
        out: Folder for C code, text and a page.
    """
    with progress_line(loading.json) as progress:
        model = loading.load(robot)
        progress("explicit model")
        made = explicit(model, "symbolic" if symbolic else "numeric")
        shown: Any = made
        if tolerance is not None:
            progress(f"abbreviate to {tolerance}")
            shown = made.abbreviate(share(tolerance), rule, made.ranges(**ranges.given()))
        files = []
        if out is not None:
            progress("write")
            texts = work.explicit_files(model, shown)
            name = next(file for file in texts if file.endswith(".txt")).removesuffix(".txt")
            files = work.write(texts | {f"{name}.html": _explicit_page(model, shown)}, out)
        parts = shown.as_dict()
    head = header(model, "explicit")
    result = {**head, **parts, "notes": [*head["notes"], *parts["notes"]], "files": files}

    def show(result: dict[str, Any]) -> None:
        out_console.print(str(shown), highlight=False, markup=False, soft_wrap=True)
        for task, c in result["counts"].items():
            out_console.print(f"{task}: {c['total']} operations ({c['mul']} mul, {c['add']} add)", highlight=False)
        wrote(result["files"])

    return finish(result, loading, show)


def _explicit_page(robot: Robot, shown: Any) -> str:
    """The page of the explicit model, with the abbreviated one as a level."""
    from kane.api.explicit import Abbreviated
    from kane.report import Given, Options, build_report, render

    parts = frozenset({"robot", "scene", "counts", "explicit"})
    levels = (shown.result,) if isinstance(shown, Abbreviated) else ()
    options = Options(tasks=("inverse_dynamics",), tolerances=(), only=parts)
    return render(build_report(robot.mechanism, options, Given(levels=levels)))


@app.command
def bench(robot: RobotName, *, libraries: Path | None = None, loading: Loading = DEFAULTS) -> int:
    """Times beside those of the installed libraries; operations counted and operations run.

    Args:
        libraries: Folder with C functions compiled from CasADi, TASK.so, as benchmarks/peers/build.py makes them.
    """
    with progress_line(loading.json) as progress:
        model = loading.load(robot)
        result = work.bench_work(model, robot if Path(robot).exists() else None, libraries, progress)

    def show(result: dict[str, Any]) -> None:
        table = Table("task", "mode", "states", "layout", "kane, ns", "peer", "peer, ns", "ratio", "spread", "of limit")
        for r in result["rows"]:
            beside = ["", ""] if r["peer_ns"] is None else [f"{r['peer_ns']:.0f}", f"{r['ratio']:.2g}"]
            place = [r["task"], r["mode"], str(r["n"]), r["layout"], f"{r['ours_ns']:.0f}", r["peer"]]
            share = "" if r["share"] is None else f"{r['share']:.0%}"
            table.add_row(*place, *beside, f"{r['spread']:.2f}", share)
        named = ", ".join(f"{p['name']} {p['version']}" for p in result["peers"])
        forms = Table("task", "form that runs", "operations counted", "operations run", "instructions")
        for r in result["running"]:
            totals = [r["counted"]["total"], r["executed"]["total"], r["instructions"]]
            forms.add_row(r["task"], r["form"], *map(str, totals))
        out_console.print(forms)
        out_console.print(table)
        rate = f"{result['limit']['flops_per_ns']:.1f} flops/ns measured"
        head = f"{result['isa']}, {rate}; CPU time of one core; peers: {named or 'none installed'}"
        out_console.print("\n".join([head, *result["compared"]]), highlight=False)

    return finish(result, loading, show)


def _show_counts(model: Robot, tasks: dict[str, Any]) -> None:
    """Ours and, for bundled robots, what was published."""
    table = Table("task", "by", "mul", "add", "total", "div", "sin, cos")
    for task, c in tasks.items():
        cells = [c["mul"], c["add"], c["total"], c["div"], c["trig"]]
        table.add_row(task, "[bold]kane[/]", *map(str, cells))
        for p in published(model.name, task):
            known = ["" if x is None else str(x) for x in (p.mul, p.add)]
            table.add_row("", f"{p.source}: {p.method}", *known, str(p.total), "", "", style="dim")
    out_console.print(table)


def unused(rows: list[dict[str, Any]], effort: str) -> list[str]:
    """Where another method than the search has fewer operations, what the other commands run."""
    best = [row for row in rows if row["best"] and row["method"] != "searched"]
    if not best:
        return []
    found = ", ".join(f"{row['task']} ({row['method']})" for row in best)
    longer = "" if effort == "high" else f"  Try --effort {'normal' if effort == 'low' else 'high'}."
    return [f"derive, code and report run the searched programs, which are not the shortest here of {found}.{longer}"]


def _show_methods(rows: list[dict[str, Any]]) -> None:
    """Operations by method; sines and cosines, and what is computed once from parameters, apart.

    run as: instructions of the compiled code, a multiply-add as one.
    """
    table = Table("task", "method", "mul", "add", "total", "div", "sin, cos", "angles", "once", "run as", "best")
    before = ""
    for row in rows:
        c, once = row["counts"], row["constants"]
        cells = [c["mul"], c["add"], c["total"], c["div"], c["trig"], c["trig_arguments"]]
        cells.append(once["total"] + once["div"] + once["sqrt"] + once["trig"])
        cells.append(row.get("instructions", ""))
        name, before = "" if row["task"] == before else row["task"], row["task"]
        table.add_row(name, row["method"], *map(str, cells), "*" if row["best"] else "")
    out_console.print(table)


def _show_trail(rows: list[dict[str, Any]]) -> None:
    """What each pass of the search saved."""
    if not rows:
        return
    table = Table("task", "pass of the search", "mul saved", "add saved")
    before = ""
    for row in rows:
        name, before = "" if row["task"] == before else row["task"], row["task"]
        table.add_row(name, row["pass"], str(row["saved_mul"]), str(row["saved_add"]))
    out_console.print(table)


def _show_checks(checks: list[dict[str, Any]]) -> None:
    table = Table("check", "error", "tolerance", "", "note")
    for c in checks:
        note = c.get("note", "")
        if note.startswith("not checked"):
            table.add_row(c["name"], "", "", "-", note)
            continue
        verdict = "[green]ok[/]" if c["ok"] else "[bold red]FAILED[/]"
        table.add_row(c["name"], f"{c['value']:.2g}", f"{c['tolerance']:.0e}", verdict, note)
    out_console.print(table)
