"""Runs as files: .npz and .parquet, written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kane.errors import MissingExtraError, UnsupportedError

if TYPE_CHECKING:
    from kane.simulation.result import SimulationResult


def save(result: SimulationResult, path: Path) -> Path:
    """Write a run by its suffix; a run that was stopped is as valid a file as a whole one."""
    writers = {".npz": _npz, ".parquet": _parquet}
    if path.suffix not in writers:
        raise UnsupportedError(
            f"A run is not written as {path.suffix!r}.",
            name=str(path),
            remedy="Use a name that ends in .npz or .parquet.",
        )
    replace_whole(path, lambda place: writers[path.suffix](result, place))
    return path


def replace_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Write into a file beside it, then put it in place."""
    place = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        write(place)
        place.replace(path)
    finally:
        place.unlink(missing_ok=True)


def columns(result: SimulationResult) -> dict[str, Any]:
    """Everything of a run by name, arrays (k,): t, state, work, inputs (`input name` where that is taken), energies."""
    layout = result.model.layout
    made: dict[str, Any] = {"t": result.t}
    made |= dict(zip(result.names, result.y, strict=True))
    made |= dict(zip(layout.works, result.work, strict=True))
    for name, row in zip(layout.inputs, result.inputs, strict=True):
        made[f"input {name}" if name in made else name] = row
    if result.model.energy is not None:
        made |= {n: result[n] for n in ("kinetic", "potential", "energy_residual")}
    return made


def facts(result: SimulationResult) -> dict[str, Any]:
    """What a run is, beside its columns."""
    return {
        "mechanism": result.model.mechanism.name,
        "method": result.method,
        "status": result.status,
        "message": result.message,
        "nfev": result.nfev,
        "energy_tolerance": result.energy_tolerance,
        "names": list(result.names),
        "inputs": list(result.model.layout.inputs),
        "events": [[e.name, e.t] for e in result.events],
    }


def _npz(result: SimulationResult, place: Path) -> None:
    text = np.frombuffer(json.dumps(facts(result)).encode(), dtype=np.uint8)
    with place.open("wb") as file:
        arrays: dict[str, Any] = {k: np.asarray(v) for k, v in columns(result).items()}
        np.savez(file, **arrays, facts=text)


def _parquet(result: SimulationResult, place: Path) -> None:
    try:
        import polars
    except ImportError as error:
        remedy = 'Install it: pip install "kane[logs]", or write .npz.'
        raise MissingExtraError("Parquet files want polars.", name="logs", remedy=remedy) from error
    table = polars.DataFrame({k: np.asarray(v, dtype=np.float64) for k, v in columns(result).items()})
    table.write_parquet(place, metadata={"kane": json.dumps(facts(result))})


def load_run(path: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Columns and facts of a run that was written to .npz."""
    with np.load(path) as file:
        data = {k: file[k] for k in file.files if k != "facts"}
        return data, json.loads(bytes(file["facts"]).decode())
