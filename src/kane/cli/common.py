"""What the commands share: the application, the loading options, progress, the end of a command."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter
from rich.console import Console

from kane import __version__
from kane.api.robot import Robot, load
from kane.cli.numbers import assignments
from kane.errors import UnknownNameError
from kane.robots import names

app = App(
    name="kane", version=__version__, help="Explicit equations of motion of robots and mechanisms.",
    default_parameter=Parameter(negative=()),  # a flag is given or not: --no-json would only make the help longer
)  # fmt: skip
RobotName = Annotated[
    str, Parameter(help=f"A file (URDF, xacro, MJCF, SDF, DH table, TOML) or a bundled robot: {', '.join(names())}.")
]
WIDE = 150  # columns where there is no terminal to fit
out_console, err_console = Console(width=None if sys.stdout.isatty() else WIDE), Console(stderr=True)


@Parameter(name="*")
@dataclass(frozen=True)
class Loading:
    """How the robot is read."""

    base: Literal["fixed", "floating"] = "fixed"
    "Whether the root link is fixed or moves freely."
    gravity: tuple[str, str, str] | None = None
    "Gravity vector in axes of N, pointing where things fall, m/s^2."
    nonphysical: Literal["refuse", "accept"] = "refuse"
    "What to do with inertia that no body can have."
    snap: float = 1e-11
    "Angles this close to a multiple of pi/12 (rad) are taken as exact."
    rotors: Annotated[bool | None, Parameter(negative="--no-rotors")] = None
    "Rotor inertia of the description, on or off."
    motors: Path | None = None
    "Motor table (CSV: joint, rotor_inertia, gear_ratio) whose rotors are put on."
    variant: str | None = None
    "Variant of a bundled robot."
    strict: bool = False
    "Repair nothing in the file; refuse instead."
    convention: Literal["standard", "modified"] | None = None
    "Convention of a DH table that does not say."
    constraints: Literal["refuse", "ignore"] = "refuse"
    "What to do with loops and tendons of MJCF."
    values: str = ""
    "Values of named parameters, such as L1=0.4,m2=1.2, for a table with symbols."
    folder: tuple[Path, ...] = ()
    "Where included files and meshes may lie besides the robot's own folder."
    json: bool = False
    "Print one JSON object and nothing else."

    def load(self, robot: str) -> Robot:
        made = load(
            robot, base=self.base, gravity=self.gravity, nonphysical=self.nonphysical, snap=self.snap,
            rotors=self.motors or self.rotors, variant=self.variant, strict=self.strict,
            convention=self.convention, constraints=self.constraints, folders=self.folder,
        )  # fmt: skip
        return made.with_parameters(assignments("values", self.values)) if self.values else made

    def numeric(self, robot: str, need: str) -> Robot:
        """The robot, all of whose parameters have values.  Raises UnknownNameError for the first that has none."""
        made = self.load(robot)
        missing = [p.name for p in made.mechanism.parameters if p.value is None]
        if missing:
            raise UnknownNameError(
                f"Parameter {missing[0]!r} has no value, which {need} needs.", name=missing[0],
                remedy=f"Pass --values {'=...,'.join(missing)}=...",
            )  # fmt: skip
        return made


DEFAULTS = Loading()


@contextmanager
def progress_line(quiet: bool) -> Any:
    """A line on the terminal that says what is being done; nothing when piped or with --json."""
    if quiet or not err_console.is_terminal:
        yield lambda text: None
        return
    with err_console.status("reading") as status:
        yield lambda text: status.update(text)


def print_json(result: dict[str, Any]) -> None:
    """One JSON object on one line; numbers that are not finite become null, what the stream cannot hold is escaped."""
    made = _plain(result)
    text = json.dumps(made, ensure_ascii=False, allow_nan=False, default=str)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(made, allow_nan=False, default=str)
    print(text)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(x) for key, x in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(x) for x in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def wrote(files: Iterable[str]) -> None:
    """Say which files there are now."""
    for file in files:
        out_console.print(f"Wrote {file}", highlight=False, markup=False, soft_wrap=True)


def finish(result: dict[str, Any], loading: Loading, show: Callable[[dict[str, Any]], None]) -> int:
    """Print a result; 1 when one of its checks failed."""
    if loading.json:
        print_json(result)
    else:
        show(result)
    return 0 if all(check["ok"] for check in result.get("verification", ())) else 1
