"""Forces and moments at joints along a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kane.equations.projection import kane_equations
from kane.equations.reaction_forces import reaction
from kane.graph.program import Input, build_program
from kane.kinematics import points as pt
from kane.native.function import compile_program
from kane.simulation.model import Array

if TYPE_CHECKING:
    from kane.simulation.result import SimulationResult


def joint_reaction(result: SimulationResult, link: str) -> Array:
    """Force and moment (k, 6) about the origin of `link`, axes of N, that the rest exerts on it and all beyond.

    A drive or spring at the joint is part of it.  Raises UnknownNameError for a link that is not there,
    InputError where a constraint beyond it has no place.
    """
    model = result.model
    e = kane_equations(model.mechanism, parameters=())
    found = reaction(e, link)
    p, s = e.points, e.points.symbols
    refs = [*pt.gather(p, found.force, 0), *pt.gather(p, found.moment, 0)]
    names = model.constraints.names if model.constraints is not None else ()
    arrays = (*model.layout.arrays(), Input("udot", s.names_udot), Input("forces", tuple(f"lambda {n}" for n in names)))
    function = compile_program(build_program(e.graph, "joint_reaction", arrays, [("reaction", (6,), refs)]))
    states, t, f = result.states()
    layout, count = model.layout, len(result.t)
    udot = result.rates()[layout.nq : layout.nq + layout.nu].T.copy()
    forces = np.array(list(result.reactions().values())).T.copy() if names else np.zeros((count, 0))
    return np.asarray(function(states, t, f, udot, forces.reshape(count, len(names))))
