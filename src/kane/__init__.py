"""kane: explicit equations of motion of robots and mechanisms, exact, in few operations, compiled.

Names are loaded when they are first used, so that importing the package is quick.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kane.api.dynamics import Dynamics
    from kane.api.equations import Equations, Expression, derive
    from kane.api.explicit import Abbreviated, Explicit, explicit
    from kane.api.robot import Robot, load, robot_names
    from kane.api.work import report
    from kane.equations.base_parameters import base_parameters
    from kane.equations.projection import kane_equations
    from kane.errors import (
        ArgumentsError,
        ConvergenceError,
        FormatError,
        InertiaError,
        InputError,
        KaneError,
        MasslessJointError,
        MissingExtraError,
        NumberError,
        ShapeError,
        TopologyError,
        UnknownNameError,
        UnsupportedError,
    )
    from kane.identification import Identifier
    from kane.linearization.linear import linearize
    from kane.linearization.trim import trim
    from kane.mechanism.builder import System
    from kane.mechanism.model import Mechanism
    from kane.simulation import simulate

_HOMES = {
    "kane.api.dynamics": ("Dynamics",),
    "kane.api.equations": ("Equations", "Expression", "derive"),
    "kane.api.explicit": ("Abbreviated", "Explicit", "explicit"),
    "kane.api.robot": ("Robot", "load", "robot_names"),
    "kane.identification": ("Identifier",),
    "kane.linearization.linear": ("linearize",),
    "kane.linearization.trim": ("trim",),
    "kane.api.work": ("report",),
    "kane.equations.base_parameters": ("base_parameters",),
    "kane.equations.projection": ("kane_equations",),
    "kane.mechanism.builder": ("System",),
    "kane.mechanism.model": ("Mechanism",),
    "kane.simulation": ("simulate",),
    "kane.errors": (
        "ArgumentsError",
        "ConvergenceError",
        "FormatError",
        "InertiaError",
        "InputError",
        "KaneError",
        "MasslessJointError",
        "MissingExtraError",
        "NumberError",
        "ShapeError",
        "TopologyError",
        "UnknownNameError",
        "UnsupportedError",
    ),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Abbreviated",
    "ArgumentsError",
    "ConvergenceError",
    "Dynamics",
    "Equations",
    "Explicit",
    "Expression",
    "FormatError",
    "Identifier",
    "InertiaError",
    "InputError",
    "KaneError",
    "MasslessJointError",
    "Mechanism",
    "MissingExtraError",
    "NumberError",
    "Robot",
    "ShapeError",
    "System",
    "TopologyError",
    "UnknownNameError",
    "UnsupportedError",
    "base_parameters",
    "derive",
    "explicit",
    "kane_equations",
    "linearize",
    "load",
    "report",
    "robot_names",
    "simulate",
    "trim",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'kane' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


class _Package(ModuleType):
    """This package: a folder that is loaded does not hide the public function of the same name (kane.explicit)."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
