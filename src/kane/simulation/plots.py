"""Time histories and phase plots of a run (extra: plot)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kane.errors import MissingExtraError, UnsupportedError, install
from kane.mechanism.given import checked_flag, checked_items
from kane.simulation.files import checked_path, replace_whole

if TYPE_CHECKING:
    from kane.simulation.result import SimulationResult

POINTS = 2000  # a curve has at least so many, from dense output
STYLE: Any = {"svg.hashsalt": "kane", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3, "axes.spines.top": False,
         "axes.spines.right": False, "legend.frameon": False, "svg.fonttype": "none"}  # fmt: skip
ENERGIES = ("kinetic", "potential")
MANY = 8  # curves of a panel that are named beside it


def plot(
    result: SimulationResult, path: str | Path | None = None, names: Sequence[str] | None = None, phase: bool = False
) -> Any:
    """A figure of coordinates, speeds, inputs and energies over time, or of `names`; phase: speeds over coordinates.

    Raises MissingExtraError without matplotlib, UnsupportedError for a file that is neither .svg nor .png.
    """
    check(path)
    result.need_points("a plot")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        rows = _phases(result) if checked_flag("phase", phase) else _chosen(result, names)
        figure = Figure(figsize=(8, 0.6 + 2.0 * len(rows)), layout="constrained")
        axes = figure.subplots(len(rows), 1, squeeze=False, sharex=not phase)[:, 0]
        t, y = _fine(result)
        inputs = dict(zip(result.model.layout.inputs, _inputs(result, t, y).T, strict=True))
        for ax, (label, content) in zip(axes, rows, strict=True):
            if phase:
                _phase(result, ax, y, label, content)
            else:
                _history(result, ax, t, y, inputs, label, content)
        if not phase:
            axes[-1].set_xlabel("t, s")
        for ax in axes if not phase else ():
            for event in result.events[:50]:
                ax.axvline(event.t, color="0.6", linewidth=0.6, zorder=0)
        title = result.model.mechanism.name if result.success else f"{result.model.mechanism.name}: {result.message}"
        figure.suptitle(title if len(title) < 90 else title[:87] + "...", fontsize=10)
        if path is not None:
            _write(figure, Path(path))
    return figure


def _chosen(result: SimulationResult, names: Any) -> list[tuple[str, list[str]]]:
    """A panel for each name, or all; UnknownNameError before anything is drawn."""
    if names is None:
        return _panels(result)
    chosen = (names,) if isinstance(names, str) else checked_items(names, "names")
    for name in chosen:
        if name != "work":
            result[name]
    return [("", [n]) for n in chosen] or _panels(result)


def check(path: str | Path | None) -> None:
    """Whether a plot could be written there, before a run that may take long.

    Raises MissingExtraError without matplotlib, UnsupportedError for a file that is neither .svg nor .png.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("Plots want matplotlib.", name="plot", remedy=install("plot")) from error
    if path is not None:
        checked_path(path, "a plot", (".svg", ".png"))


def _write(figure: Any, path: Path) -> None:
    dates = {"Date": None} if path.suffix == ".svg" else {"Software": None}
    replace_whole(path, lambda place: figure.savefig(place, metadata=dates, dpi=150))


def _panels(result: SimulationResult) -> list[tuple[str, list[str]]]:
    layout = result.model.layout
    panels = [("coordinates", list(layout.coordinates)), ("speeds", list(layout.speed_names))]
    if np.any(result.inputs):
        panels.append(("inputs", list(layout.inputs)))
    if result.model.energy is not None:
        panels += [("energy, J", ["kinetic", "potential", "work"]), ("energy residual, J", ["energy_residual"])]
    return panels


def _fine(result: SimulationResult) -> tuple[Any, Any]:
    if result.sol is None or len(result.t) >= POINTS or len(result.t) < 2:
        return result.t, result.y
    t = np.union1d(result.t, np.linspace(result.t[0], result.t[-1], POINTS))
    return t, result.sol(t)


def _history(
    result: SimulationResult, ax: Any, t: Any, y: Any, inputs: Mapping[str, Any], label: str, names: list[str]
) -> None:
    layout = result.model.layout
    for name in names:
        own = name.removeprefix("input ")  # that of a name which is a state too
        if own in inputs and (label == "inputs" or name not in (*result.names, *layout.speeds)):
            ax.plot(t, inputs[own], label=name, linewidth=1.2)
        elif name in result.names or name in layout.speeds:
            ax.plot(t, y[layout.index(name)], label=name, linewidth=1.2)
        elif name == "work":
            ax.plot(result.t, result.work.sum(axis=0), label="work", linewidth=1.2)
        elif name in ENERGIES and result.model.energy is not None:
            ax.plot(t, _energies(result, t, y, inputs)[ENERGIES.index(name)], label=name, linewidth=1.2)
        else:
            ax.plot(result.t, result[name], label=name, linewidth=1.2)
    ax.set_ylabel(label or names[0])
    if len(names) > MANY:
        ax.set_title(f"{len(names)} curves, {names[0]} to {names[-1]}; names=... draws some of them", fontsize=8)
    elif label and names[0] != "energy_residual":
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


def _energies(result: SimulationResult, t: Any, y: Any, inputs: Mapping[str, Any]) -> Any:
    """Kinetic and potential energy at the times of the curves."""
    whole = np.zeros((len(t), result.model.layout.size))
    whole[:, : len(y)] = y.T  # no energy depends on the works, which may be missing
    rows = np.stack(list(inputs.values()), axis=1) if inputs else np.zeros((len(t), 0))
    assert result.model.energy is not None
    return result.model.energy(whole, t.reshape(-1, 1), np.ascontiguousarray(rows))


def _inputs(result: SimulationResult, t: Any, y: Any) -> Any:
    """The inputs (k, m) at the times of the curves: as held, or what a continuous law gives there."""
    rows, nq = result.inputs.T, result.model.layout.nq
    if len(t) == len(result.t) or result.law is None:
        return rows[np.clip(np.searchsorted(result.t, t, side="left"), 0, len(rows) - 1)]
    try:
        return np.array([result.law(float(time), x[:nq], x[nq:]) for time, x in zip(t, y.T, strict=True)])
    except Exception:  # of the user's law, which the run has told already
        return np.stack([np.interp(t, result.t, row) for row in rows.T], axis=1)


def _phases(result: SimulationResult) -> list[tuple[str, list[str]]]:
    layout = result.model.layout
    made = [(n, [f"{n}_dot"]) for n in layout.coordinates if f"{n}_dot" in layout.speed_names]
    if not made:
        raise UnsupportedError(
            "A phase plot wants speeds that are rates of coordinates.", name="phase", remedy="Use phase=False."
        )
    return made


def _phase(result: SimulationResult, ax: Any, y: Any, label: str, names: list[str]) -> None:
    layout = result.model.layout
    q, u = y[layout.index(label)], y[layout.index(names[0])]
    ax.plot(q, u, linewidth=1.0)
    ax.plot(q[:1], u[:1], "o", markersize=4, color="C1")
    ax.set_xlabel(label)
    ax.set_ylabel(names[0])
