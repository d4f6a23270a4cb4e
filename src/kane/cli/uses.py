"""Commands that use the model: simulate, report, serve."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from kane.api import work
from kane.api.equations import DEFAULT_TASKS, derive
from kane.api.robot import Robot, load
from kane.api.summary import header
from kane.cli.common import DEFAULTS, Loading, RobotName, app, finish, out_console, progress_line, wrote
from kane.cli.numbers import Listed, Whole, state
from kane.kinematics.coordinates import find_coordinates

Method = Literal["DOP853", "RK4", "variational", "BDF", "IDA"]


@app.command
def simulate(  # noqa: PLR0913
    robot: RobotName, *, time: float = 5.0, q: Listed = "", qd: Listed = "", tau: Listed = "",
    method: Method = "DOP853", step: float | None = None, out: Path | None = None, plot: Path | None = None,
    animate: Path | None = None, loading: Loading = DEFAULTS,
) -> int:  # fmt: skip
    """Free motion, or with constant forces, from a start; energy balance, drawings, a page that plays it in 3-D.

    Args:
        time: Seconds.
        q: Coordinates at the start, "0,0.5,..." or "q1=0.5,q2=1"; those not named are 0.
        qd: Speeds at the start, likewise.
        tau: Constant generalized forces, likewise; 0 if not given.
        method: DOP853, RK4, variational; BDF and IDA for stiff systems want kane[dae].
        step: Step of RK4 and variational, s; the others choose theirs.
        out: File for the run (.npz or .parquet).
        plot: File for time histories (.svg or .png); wants kane[plot].
        animate: File for the report page (.html), in which the run is played in 3-D.
    """
    from kane.simulation import simulate as run
    from kane.simulation.animation import PAGES
    from kane.simulation.files import WRITERS, checked_path, checked_suffix
    from kane.simulation.plots import check

    if out is not None:
        checked_path(out, "a run", WRITERS)
    if plot is not None:
        check(plot)
    if animate is not None:
        checked_suffix(animate, "an animation", PAGES)
    with progress_line(loading.json) as progress:
        model = loading.numeric(robot, "a simulation")
        progress("simulate")

        def report(t: float, end: float) -> None:
            progress(f"simulate {t:.2f} s of {end:g} s")

        c = find_coordinates(model.mechanism)
        result = run(
            model.mechanism, time, state("q", q, c.names), state("qd", qd, c.speeds, c.rates),
            inputs=state("tau", tau), method=method, step=step, progress=report,
        )  # fmt: skip
        files = [str(path) for path in (out, plot, animate) if path is not None]
        if out is not None:
            result.save(out)
        if plot is not None:
            result.plot(plot)
        if animate is not None:
            progress("write the page")
            work.write({animate.name: _played(model.mechanism, result)}, animate.parent)
    made: dict[str, Any] = {
        **header(model, "simulate", tree=False),
        "status": int(result.status), "message": str(result.message), "nfev": int(result.nfev),
        "t_end": float(result.t[-1]), "energy_error": float(result.energy_error),
        "energy_ok": bool(result.energy_ok), "state": [float(x) for x in result.y[:, -1]], "files": files,
    }  # fmt: skip

    def show(_: dict[str, Any]) -> None:
        out_console.print(result.summary(), highlight=False, markup=False)
        wrote(files)

    finish(made, loading, show)
    return 0 if result.success and result.energy_ok else 1


def _played(mechanism: Any, run: Any) -> str:
    """The report with a run in it, without what takes long."""
    from kane.report import Given, Options, build_report, render

    options = Options(tolerances=(), targets=("c", "numpy"), count_explicit=False)
    return render(build_report(mechanism, options, Given(runs=(run,))))


@app.command
def report(
    robot: RobotName, *, out: Annotated[Path, Parameter(alias="-o")] = Path("report.html"), quick: bool = False,
    effort: str = "low", loading: Loading = DEFAULTS,
) -> int:  # fmt: skip
    """One self-contained HTML page that shows everything; open it from disk.

    Args:
        out: The page.
        quick: Leave the abbreviated explicit models out.
        effort: Of the search for few operations: low takes seconds, normal a minute, high minutes.
    """
    with progress_line(loading.json) as progress:
        model = loading.load(robot)
        page, checks = work.report_page(model, effort, () if quick else work.LEVELS, progress)
        files = work.write({out.name: page}, out.parent)
    made = {**header(model, "report"), "verification": checks, "files": files}
    return finish(made, loading, lambda r: wrote(r["files"]))


@app.command
def serve(robot: RobotName, *, port: Whole = 0, loading: Loading = DEFAULTS) -> int:
    """The report live on this machine: pick another robot, change a parameter; Ctrl-C ends it.

    Args:
        port: Of 127.0.0.1; 0 takes a free one.  The address is printed.
    """
    from kane.report import Given
    from kane.report import serve as run
    from kane.robots import names

    first = loading.load(robot)

    def mechanism(name: str) -> Any:
        return first.mechanism if name == robot else load(name).mechanism

    def ready(url: str) -> None:
        out_console.print(f"Open {url}  (Ctrl-C ends it)", highlight=False, soft_wrap=True)

    def given(shown: Any, part: str) -> Given:
        if part == "counts":
            return Given(methods=work.counts_work(Robot(shown), DEFAULT_TASKS, "low")["tasks"])
        return Given(checks=work.verification(derive(Robot(shown)), DEFAULT_TASKS))

    run(robot, mechanism, tuple(names()), port, ready, given)
    return 0
