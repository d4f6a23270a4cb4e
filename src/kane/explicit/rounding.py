"""What else a certificate may include: rounding of a program in float32, and tolerances of parameters."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kane.errors import UnknownNameError
from kane.explicit.absolute import absolute_form, joint_parts
from kane.explicit.bounds import COARSE, Box, Motion, certify, make_field
from kane.explicit.evaluate import Array
from kane.explicit.forms import Product
from kane.explicit.lumping import Constant
from kane.explicit.model import ExplicitModel
from kane.graph.program import Program

FLOAT32 = 2.0**-24  # unit of rounding


def rounding_bound(program: Program, box: Box, unit: float = FLOAT32) -> Array:
    """Bound of the rounding error of each output of inverse dynamics over the ranges, operation by operation.

    Forward analysis: |fl(x op y) - (x op y)| <= unit |x op y|, magnitudes by the triangle inequality; the inputs are
    taken as exact; sines and cosines are good to two units.
    """
    ranges = {"q": np.maximum(np.abs(box.lower), np.abs(box.upper)), "qd": box.speed, "qdd": box.acceleration}
    size: list[float] = []
    error: list[float] = []
    for op, args, payload, _ in program.values:
        m, e = [size[a >> 1] for a in args], [error[a >> 1] for a in args]
        if op == "input":
            assert isinstance(payload, tuple)
            size.append(float(ranges[program.inputs[payload[0]].name][payload[1]]))
            error.append(0.0)
        elif op == "num":
            size.append(abs(float(payload)))  # type: ignore[arg-type]
            error.append(unit * size[-1])
        elif op in ("sin", "cos"):
            size.append(1.0)
            error.append(e[0] + 2 * unit)
        elif op in ("add", "mul"):
            size.append(m[0] + m[1] if op == "add" else m[0] * m[1])
            carried = e[0] + e[1] if op == "add" else m[0] * e[1] + m[1] * e[0] + e[0] * e[1]
            error.append(carried + unit * (size[-1] + carried))
        else:
            raise ValueError(f"no rounding rule for {op!r}")
    (output,) = program.outputs
    return np.array([error[r >> 1] for r in output.refs])


def parameter_bound(model: ExplicitModel, tolerances: Mapping[str, float], box: Box) -> Array:
    """Bound of each joint's torque change when constants or parameters are off by up to their tolerances.

    tolerances: by name of a constant (I5, g1) or of a parameter (m2, rx2): absolute.  Each constant's deviation is
    bounded by intervals, the torque of each constant by `certify`.  Raises UnknownNameError for another name.
    """
    names = {c.name for c in model.constants} | {a.name for a in model.atoms.atoms}
    for name in tolerances:
        if name not in names:
            raise UnknownNameError(f"{name!r} is no constant and no parameter of {model.name}.", name=name)
    form = absolute_form(model)
    total = np.zeros(model.n)
    for index, constant in enumerate(model.constants):
        spread = tolerances.get(constant.name, 0.0) + _spread(model, constant, tolerances)
        if not spread or constant.parts:
            continue
        values = np.zeros(len(model.constants))
        values[index] = spread
        parts: list[list[tuple[Motion, float, Product]]] = [[] for _ in range(model.n)]
        for piece in form.pieces:
            if piece.term.constant == index:
                for i, motion, w, factors in joint_parts(form, piece, values):
                    parts[i].append((motion, w, factors))
        for i in range(model.n):
            total[i] += certify(make_field(model.n, parts[i], box), box, COARSE).upper
        for i, rotor in form.rotors:
            if rotor == index:
                total[i] += spread * float(box.acceleration[i])
    return total


def _spread(model: ExplicitModel, constant: Constant, tolerances: Mapping[str, float]) -> float:
    """How far a constant moves when its atoms move by their tolerances: monomial by monomial."""
    total = 0.0
    for key, number in constant.polynomial:
        plain = wide = abs(float(number))
        for place, power in model.atoms.exponents(key):
            atom = model.atoms.atoms[place]
            value = abs(atom.value or 0.0)
            plain *= value**power
            wide *= (value + tolerances.get(atom.name, 0.0)) ** power
        total += wide - plain
    return total
