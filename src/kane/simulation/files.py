"""Runs as files: .npz and .parquet, written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from kane.errors import FormatError, InputError, KaneError, MissingExtraError, UnsupportedError
from kane.mechanism.given import shown

if TYPE_CHECKING:
    from kane.simulation.result import SimulationResult


WRITERS = (".npz", ".parquet")


def checked_path(path: Any, what: str, suffixes: tuple[str, ...]) -> Path:
    """A file that can be written: its suffix is one of these and its folder is there.

    Raises UnsupportedError for another suffix, InputError for what is no path, and for a folder that is not there.
    """
    place = checked_suffix(path, what, suffixes)
    if not place.parent.is_dir() or place.is_dir():
        wrong = "is a folder" if place.is_dir() else f"wants the folder {str(place.parent)!r}, which is not there"
        raise InputError(f"{str(path)!r} {wrong}.", name=str(path), remedy="Give a file in a folder that is there.")
    return place


def checked_suffix(path: Any, what: str, suffixes: tuple[str, ...]) -> Path:
    """A path whose suffix is one of these.  Raises UnsupportedError and InputError as checked_path."""
    if not isinstance(path, (str, os.PathLike)) or not str(path) or "\0" in str(path):
        raise InputError(
            f"The path of {what} is {shown(path)}.", name="path", value=shown(path),
            remedy=f'Give a name such as "run{suffixes[0]}".',
        )  # fmt: skip
    place, known = Path(path), " or ".join(suffixes)
    if place.suffix not in suffixes:
        raise UnsupportedError(
            f"{what[:1].upper()}{what[1:]} is not written as {place.suffix!r}.", name=str(path),
            remedy=f"Use a name that ends in {known}.",
        )  # fmt: skip
    return place


def save(result: SimulationResult, path: Any) -> Path:
    """Write a run by its suffix; a run that was stopped is as valid a file as a whole one."""
    place = checked_path(path, "a run", WRITERS)
    writers = dict(zip(WRITERS, (_npz, _parquet), strict=True))
    replace_whole(place, lambda beside: writers[place.suffix](result, beside))
    return place


def replace_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Write into a file beside it, then put it in place."""
    place = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        write(place)
        place.replace(path)
    except OSError as error:  # about the file that was asked for, not the one beside it
        raise type(error)(error.errno, error.strerror, str(path)) from None
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
    table = _polars().DataFrame({k: np.asarray(v, dtype=np.float64) for k, v in columns(result).items()})
    table.write_parquet(place, metadata={"kane": json.dumps(facts(result))})


def _polars() -> Any:
    try:
        import polars
    except ImportError as error:
        remedy = 'Install it: pip install "kane[logs]", or write .npz.'
        raise MissingExtraError("Parquet files want polars.", name="logs", remedy=remedy) from error
    return polars


def load_run(path: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Columns and facts of a run that run.save wrote, .npz or .parquet.

    Raises UnsupportedError for a file of another type, FormatError for one that holds no run, MissingExtraError without
    polars, and OSError where there is no file.
    """
    if not isinstance(path, (str, os.PathLike)) or not str(path) or "\0" in str(path):
        raise InputError(f"The path of a run is {shown(path)}.", name="path", remedy='Give a name such as "run.npz".')
    place, known = Path(path), " and ".join(WRITERS)
    reader = {".npz": _from_npz, ".parquet": _from_parquet}.get(place.suffix)
    if reader is None:
        raise UnsupportedError(
            f"Runs are not read from files of type {place.suffix!r}.", file=str(path), name=str(path),
            value=place.suffix, remedy=f"Give what run.save wrote: {known} are read.",
        )  # fmt: skip
    try:
        with place.open("rb") as stream:
            return reader(stream)
    except (KaneError, OSError):
        raise
    except Exception as error:  # every library has errors of its own
        text = f"{type(error).__name__}: {' '.join(str(error).split())}"
        what = "no archive of NumPy" if isinstance(error, ValueError) and "pickle" in text else text
        raise FormatError(
            f"This {place.suffix} file holds no run ({what}).", file=str(path),
            remedy=f"Give a file that run.save wrote: {known} are read.",
        ) from None  # fmt: skip


def _from_npz(stream: IO[bytes]) -> tuple[dict[str, Any], dict[str, Any]]:
    with np.load(stream) as file:
        if "facts" not in file.files:
            raise ValueError("it says nothing of a run")
        data = {k: file[k] for k in file.files if k != "facts"}
        return data, json.loads(bytes(file["facts"]).decode())


def _from_parquet(stream: IO[bytes]) -> tuple[dict[str, Any], dict[str, Any]]:
    polars = _polars()
    said = polars.read_parquet_metadata(stream).get("kane")
    if said is None:
        raise ValueError("it says nothing of a run")
    stream.seek(0)
    table = polars.read_parquet(stream)
    return {name: table[name].to_numpy() for name in table.columns}, json.loads(said)
