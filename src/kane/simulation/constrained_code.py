"""The machine code of motion under constraints for one model: loaded functions, their context, calls."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane.native.host import this_host
from kane.native.load import Loaded, load
from kane.simulation import algebra as slot
from kane.simulation.algebra import BUFFERS, OUTPUTS, VECTORS, constrained_source


@dataclass(frozen=True, slots=True)
class ConstrainedCode:
    """The loaded functions and their context for one model; `inputs` is read at every call, `control` is ctx."""

    loaded: Loaded
    control: Any
    inputs: Any
    keep: tuple[Any, ...]

    @property
    def slope(self) -> int:
        return self.loaded.address("constrained")

    @property
    def project(self) -> int:
        return self.loaded.address("project")

    @property
    def pivot(self) -> int:
        """Address of the smallest relative pivot at the last slope."""
        return self.context + 8 * slot.PIVOT

    @property
    def context(self) -> int:
        return int(self.control.ctypes.data)


def load_constrained() -> Loaded:
    """Compile the functions, or take them from native's cache."""
    return load(constrained_source(), this_host(), 2, True)


def constrained_code(constraints: Any) -> ConstrainedCode:
    """The functions for the constraints of a model (constraints.Constraints)."""
    layout = constraints.layout
    nq, n, m, held, works = layout.nq, layout.nu, len(constraints.names), len(constraints.held), len(layout.works)
    loaded = constraints.code
    sizes = {
        "qdot": nq,
        "M": n * n,
        "M values": len(constraints.places[0]),
        "A values": len(constraints.places[1]),
        "slope values": len(constraints.places[2]),
        "force": n,
        "A": m * n,
        "gamma": m,
        "rates": m,
        "rest": m,
        "powers": 3,
        "inertia_power": n,
        "phi": held,
        "slope": held * nq,
        "x": n,
        "b": max(n, nq),
        "norms": m,
        "along": m,
        "state": nq + n + works,
        "v": n,
    }
    buffers = [np.zeros(sizes[k] + 8) for k in (*OUTPUTS, *VECTORS)]
    inputs = np.zeros(max(len(layout.inputs), 1))
    groups = np.array([len(constraints.quaternions), *constraints.quaternions], dtype=np.int64)
    control = np.zeros(BUFFERS + len(buffers))
    integers = control.view(np.int64)
    addresses = constraints.terms.address, inputs.ctypes.data, constraints.positions.address
    integers[[slot.TERMS, slot.INPUTS, slot.POSITIONS]] = addresses
    integers[[slot.NQ, slot.NU, slot.M, slot.HELD, slot.WORKS]] = nq, n, m, held, works
    tables = [_table(places, width) for places, width in zip(constraints.places, (n, n, nq), strict=True)]
    integers[[slot.M_AT, slot.A_AT, slot.SLOPE_AT]] = [x.ctypes.data for x in tables]
    integers[slot.GROUPS], integers[slot.STAGE], control[slot.PIVOT] = groups.ctypes.data, 1, 1.0
    integers[BUFFERS:] = [b.ctypes.data for b in buffers]
    return ConstrainedCode(loaded, control, inputs, (constraints, buffers, groups, tables))


def _table(places: Any, width: int) -> Any:
    """The number of elements, then their places in the matrix by rows."""
    return np.array([len(places), *(i * width + j for i, j in places)], dtype=np.int64)


def call(code: ConstrainedCode, t: float, y: Any, size: int) -> Any:
    """ydot at a state, through the machine code."""
    p = ctypes.c_void_p
    time, out = np.array([t]), np.zeros(size)
    state = np.ascontiguousarray(y, dtype=np.float64)
    ctypes.CFUNCTYPE(None, p, p, p, p)(code.slope)(code.context, time.ctypes.data, state.ctypes.data, out.ctypes.data)
    return out
