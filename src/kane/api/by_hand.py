"""Functions of the stages that take a Robot as well as a Mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kane.equations import base_parameters as base
from kane.equations import projection
from kane.mechanism.given import mechanism_of
from kane.mechanism.model import Mechanism

if TYPE_CHECKING:
    from kane.api.robot import Robot


def base_parameters(robot: Robot | Mechanism, **options: Any) -> base.BaseParameters:
    """Base parameters of a robot; options as in kane.equations.base_parameters.base_parameters."""
    return base.base_parameters(mechanism_of(robot), **options)


def kane_equations(
    robot: Robot | Mechanism, parameters: Sequence[str] | None = None, runs: bool = False
) -> projection.Equations:
    """Kane's equations F_r + F_r* = 0 of a robot or a declared mechanism, with its loads.

    parameters: names that stay symbols; by default all that the mechanism declares.
    """
    return projection.kane_equations(mechanism_of(robot), parameters, runs=runs)
