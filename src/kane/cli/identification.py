"""Where parameters come from: identify from a log, excite for a motion to record, measure for a worksheet."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, Literal

import numpy as np
from rich.table import Table

from kane.api.summary import header
from kane.cli.common import DEFAULTS, Loading, RobotName, app, finish, out_console, progress_line, wrote
from kane.cli.numbers import Whole, number, state
from kane.cli.wording import typed
from kane.errors import InputError, ShapeError


@app.command
def identify(  # noqa: PLR0913
    robot: RobotName, log: Path, *, cutoff: float | None = None, friction: Literal["given", "all", "none"] = "given",
    method: Literal["ols", "wls", "irls"] = "ols", consistent: bool = False, test: Path | None = None,
    out: Path | None = None, overwrite: bool = False, accept: tuple[Literal["units", "swapped"], ...] = (),
    loading: Loading = DEFAULTS,
) -> int:  # fmt: skip
    """Base parameters from a log (CSV, npz, MAT, Parquet, rosbag2, MCAP): values, deviations, warnings.

    CSV, Parquet and bags may be larger than memory.

    Args:
        log: Columns such as t, q_joint1, tau_joint1, and qd_joint1, qdd_joint1 unless --cutoff is given.
        cutoff: Take raw encoder positions, filtered without delay at this frequency (Hz) and differentiated.
        friction: all: viscous, Coulomb and offset friction of every joint; given: what the description has.
        method: wls weighs joints by their noise, irls holds against outliers too.
        consistent: Every body is one that can exist, in values, predictions and files; wants kane[identify].
        test: Another log, whose torques are predicted.
        out: The robot's own file with the identified numbers; implies --consistent.
        overwrite: Write over a file that exists.
        accept: Findings that are right as they are and refuse no log: units, swapped (joints); may be given again.
    """
    from kane.identification import IdentificationWarning, Identifier, fit_log, predicted_log, save_into

    _free(overwrite, out)
    with progress_line(loading.json) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentificationWarning)  # they are in the result
        model = loading.numeric(robot, "a fit")
        real = consistent or out is not None
        identifier = Identifier(model, friction=friction, method=method, consistent=real, accept=accept)
        progress("fit")
        fit_log(identifier, log, cutoff)
        errors = {} if test is None else predicted_log(identifier, test, cutoff)
        lost = [] if out is None else save_into(robot, identifier.to_mechanism(), out, overwrite)
    made = {
        **header(model, "identify"), **identifier.as_dict(), "correlation": identifier.correlation_.tolist(),
        "prediction": {joint: {"rms": rms, "share": share} for joint, (rms, share) in errors.items()},
        "files": [] if out is None else [str(out)],
    }  # fmt: skip
    made["warnings"] = [typed(text, "identify") for text in identifier.warnings_]

    def show(result: dict[str, Any]) -> None:
        out_console.print(_parameters(result["parameters"], real))
        left = ", ".join(f"{joint} {x:.3g}" for joint, x in result["residual"].items())
        texts = [
            f"{identifier.n_samples_} samples, condition number {identifier.condition_:.4g}, with columns of one "
            f"length {identifier.scaled_condition_:.4g}; left of the torques: {left}"
        ]
        texts += [f"{joint}: {rms:.3g} off on {test}, {share:.2%} of range" for joint, (rms, share) in errors.items()]
        texts += [f"{u.name} is not known: {u.reason}" for u in identifier.unknown_]
        for text in (*texts, *result["warnings"], *lost):
            out_console.print(text, highlight=False, markup=False, soft_wrap=True)
        wrote(result["files"])

    return finish(made, loading, show)


@app.command
def excite(  # noqa: PLR0913
    robot: RobotName, *, period: float = 20.0, harmonics: Whole | None = None,
    friction: Literal["given", "all", "none"] = "all",
    objective: Literal["condition", "information"] = "condition", velocity: str = "", acceleration: str = "",
    box: list[str] | None = None, rate: float = 100.0, out: Path | None = None, plot: Path | None = None,
    overwrite: bool = False, rounds: Whole = 800, loading: Loading = DEFAULTS,
) -> int:  # fmt: skip
    """A motion to record: a Fourier series within all limits whose regressor has the least condition number.

    Args:
        period: Seconds after which the motion repeats.
        harmonics: Of the series; by default what the limits on speed and acceleration ask for, 20 to 32.
        friction: all: viscous, Coulomb and offset friction of every joint are to be shown too.
        objective: The condition number, or the determinant of the information matrix.
        velocity: Limits that replace those of the description: "1.5", one number a joint, or "joint1=1.5,joint2=2".
        acceleration: Likewise.
        box: "link:x0,y0,z0,x1,y1,z1" keeps the origin of a link in a box; may be given again.
        rate: Samples a second in the CSV.
        out: CSV file with t, q, qd, qdd.
        plot: SVG file with a drawing of q, qd, qdd.
        overwrite: Write over files that exist.
        rounds: Of the search.
    """
    from kane.identification import Box, Search, exciting_motion, motion_limits, torque_model
    from kane.identification.asked import check_series
    from kane.identification.motion import check_table

    _free(overwrite, out, plot)
    check_table(check_series((period, harmonics), True)[0], rate)
    with progress_line(loading.json) as progress:
        loaded = loading.numeric(robot, "a motion within limits")
        model = torque_model(loaded.mechanism, friction=friction)
        given = {"velocity": state("velocity", velocity), "acceleration": state("acceleration", acceleration)}
        limits = motion_limits(
            model, **{k: v[0] if isinstance(v, list) and len(v) == 1 else v for k, v in given.items() if v}
        )
        boxes = []
        for text in box or ():
            frame, _, sides = text.rpartition(":")
            x = [number("box", part) for part in sides.split(",")]
            if not frame or len(x) != 6:
                raise ShapeError(f"--box {text!r} is no link and six numbers.", name="box", value=text,
                                 remedy='Write "link:x0,y0,z0,x1,y1,z1".')  # fmt: skip
            boxes.append(Box(frame, (x[0], x[1], x[2]), (x[3], x[4], x[5])))
        progress("search")
        search = Search(rounds=rounds)
        found = exciting_motion(model, (period, harmonics), objective, boxes, limits, search=search)
    files = []
    for path, text in ((out, found.motion.csv(rate)), (plot, found.motion.svg())):
        if path is not None:
            path.write_text(text, encoding="utf-8")
            files.append(str(path))
    made = {
        **header(loaded, "excite"), "condition": found.condition, "information": found.information,
        "random": float(np.median(found.random)) if found.random else None, "margins": found.margins, "files": files,
    }  # fmt: skip

    def show(result: dict[str, Any]) -> None:
        random = "" if result["random"] is None else f" (random motions {result['random']:.4g})"
        out_console.print(f"condition number {found.condition:.4g}{random}", highlight=False)
        used = ", ".join(f"{name} {share:.0%}" for name, share in found.margins.items())
        out_console.print(f"used of the limits: {used}", highlight=False)
        wrote(result["files"])

    return finish(made, loading, show)


@app.command
def measure(
    robot: RobotName, sheet: Path, *, out: Path | None = None, overwrite: bool = False, loading: Loading = DEFAULTS
) -> int:
    """Bodies and drives with standard errors from a worksheet (TOML) of readings of the robot taken apart.

    Args:
        sheet: The readings, as docs/identification.md shows them.
        out: The robot's own file with the measured numbers.
        overwrite: Write over a file that exists.
    """
    from kane.identification import read_worksheet, save_into

    _free(overwrite, out)
    model = loading.load(robot)
    found = read_worksheet(sheet, model.mechanism)
    lost = [] if out is None else save_into(robot, found.applied(model.mechanism), out, overwrite)
    rows = [{"name": name, "value": q.value, "error": q.error} for name, q in found.table() if q.value or q.error]
    made = {**header(model, "measure"), "table": rows, "files": [] if out is None else [str(out)]}

    def show(result: dict[str, Any]) -> None:
        out_console.print(found.report(), highlight=False, markup=False, end="")
        for text in lost:
            out_console.print(text, highlight=False, markup=False)
        wrote(result["files"])

    return finish(made, loading, show)


def _parameters(rows: list[dict[str, Any]], real: bool) -> Table:
    """The values; real: those of real bodies, beside what least squares gives with the deviations."""
    columns = ("real bodies", "least squares", "its deviation") if real else ("value", "deviation")
    table = Table("parameter", *columns, "formula")
    for row in rows:
        values = [row["value"], row["least_squares"]] if real else [row["value"]]
        deviation = "unknown" if row["deviation"] is None else f"{row['deviation']:.2g}"
        table.add_row(row["name"], *(f"{x:.6g}" for x in values), deviation, row["formula"])
    return table


def _free(overwrite: bool, *paths: Path | None) -> None:
    """InputError for a file that exists or has no folder to be in, before anything is done."""
    for path in paths:
        if path is not None and (path.is_dir() or not path.parent.is_dir()):
            raise InputError(
                f"{path} is {'a folder' if path.is_dir() else 'in a folder that does not exist'}.", code="FileError",
                file=str(path), name=str(path), remedy="Check the path.",
            )  # fmt: skip
        if path is not None and path.exists() and not overwrite:
            raise InputError(
                f"{path} exists; it is not written over.", file=str(path), name=str(path),
                remedy="Give another name, or --overwrite.",
            )  # fmt: skip
