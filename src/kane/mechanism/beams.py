"""Elastic beams by assumed modes: shapes, their integrals, and the element that carries them on a link.

The beam lies along the x axis of a link, s = xi / L from 0 to 1.  A point at s is at
    (L s + sum a_j chi_j(s) - (1 / 2 L) sum q_k q_l int_0^s phi_k' phi_l' ds) x  +  sum q_k phi_k(s) y :
the axial shortening that bending brings is kept to second order, so that partial velocities are right to first order
and the stiffening by spin, by axial acceleration and by tip masses is there (Kane, Ryan and Banerjee 1987).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from kane.errors import InputError
from kane.graph.arena import Graph
from kane.graph.derivative import forward
from kane.graph.evaluate import evaluate
from kane.graph.program import Input, build_program
from kane.mechanism import formula as f
from kane.mechanism.formula import Formula, Scalar, ScalarLike
from kane.mechanism.model import Axis, Joint, Translate, Turn

Array = np.ndarray[Any, np.dtype[np.float64]]
Stiffening = Literal["geometric", "none"]
S = f.name("s")  # the dimensionless place along the beam


@dataclass(frozen=True, slots=True)
class Beam:
    """A uniform beam on the link `link`, from its origin along x; bends towards `axis` (1: y, 2: z).

    length m, density kg/m, rigidity EI N m^2; coordinates and shapes (formulas in s) of bending, and of stretching
    with axial rigidity EA N.  stiffening "none" is the conventional model, prematurely linearised: wrong at speed, for
    comparison only. truncated: equations linear in the elastic coordinates, as small deflections allow.  damping:
    stiffness- proportional, s.
    """

    name: str
    link: str
    length: Scalar
    density: Scalar
    rigidity: Scalar
    coordinates: tuple[str, ...]
    shapes: tuple[Formula, ...]
    axis: Axis = 1
    axial_coordinates: tuple[str, ...] = ()
    axial_shapes: tuple[Formula, ...] = ()
    axial_rigidity: Scalar = Fraction(0)
    stiffening: Stiffening = "geometric"
    truncated: bool = False
    damping: Scalar = Fraction(0)

    def __post_init__(self) -> None:
        """Raises InputError for what no beam can be, or what its shapes cannot say."""
        amounts = {"length": self.length, "density": self.density, "rigidity": self.rigidity,
                   "axial_rigidity": self.axial_rigidity, "damping": self.damping}  # fmt: skip
        for what, amount in amounts.items():
            if not isinstance(amount, Formula) and (amount < 0 or (amount == 0 and what == "length")):
                self._refuse(what, amount, "Give a positive number.")
        if self.stiffening not in ("geometric", "none"):
            self._refuse("stiffening", self.stiffening, 'Give "geometric" or "none".')
        if self.axis not in (1, 2):
            self._refuse("axis", self.axis, "It bends towards axis 1 (y) or 2 (z) of its link.")
        for what, shapes, names in (
            ("coordinates", self.shapes, self.coordinates),
            ("axial_coordinates", self.axial_shapes, self.axial_coordinates),
        ):
            if len(shapes) != len(names) or len(set(names)) != len(names):
                self._refuse(what, f"{names} for {len(shapes)} shapes", "Give one coordinate for each shape.")
            for shape in shapes:
                if not isinstance(shape, Formula) or not shape.names() <= {"s"}:
                    self._refuse("shape", shape, "Write shapes as formulas in beams.S alone, s from 0 to 1.")

    def _refuse(self, what: str, value: object, remedy: str) -> None:
        raise InputError(
            f"Beam {self.name!r}: {what} is {value}.", name=self.name, element=what, value=str(value), remedy=remedy
        )

    def deflection(self, s: ScalarLike = 1) -> Formula:
        """Bending deflection at s, m."""
        return _combined(self.coordinates, [at(shape, s) for shape in self.shapes])

    def slope(self, s: ScalarLike = 1) -> Formula:
        """Slope dw/dxi at s."""
        slopes = [f.mul(at(derivative(shape), s), f.formula(1) / self.length) for shape in self.shapes]
        return _combined(self.coordinates, slopes)

    def extension(self, s: ScalarLike = 1) -> Formula:
        """Axial displacement at s (a number): stretching less shortening by bending, m."""
        total = _combined(self.axial_coordinates, [at(shape, s) for shape in self.axial_shapes])
        if self.stiffening == "none":
            return total
        short = shortening(self.shapes, _float(s))
        for k, qk in enumerate(self.coordinates):
            for l, ql in enumerate(self.coordinates):
                term = f.name(qk) * f.name(ql) * f.exact(float(short[k, l])) / (f.formula(2) * self.length)
                total = total - term
        return total

    def end(self, name: str, s: ScalarLike = 1) -> Joint:
        """A joint that carries the link `name` at s, turned with the beam: for tip bodies, forces and sensors."""
        place: list[Scalar] = [f.formula(self.length) * f.exact(s) + self.extension(s), Fraction(0), Fraction(0)]
        place[self.axis] = self.deflection(s)
        angle = self.slope(s) if self.axis == 1 else -self.slope(s)
        turn: Axis = 2 if self.axis == 1 else 1
        moves = (Translate((place[0], place[1], place[2])), Turn(turn, angle))
        coordinates = (*self.coordinates, *self.axial_coordinates)
        return Joint(name, "general", self.link, name, coordinates=coordinates, moves=moves)


def _float(s: ScalarLike) -> float:
    return f.number(f.exact(s))


def _combined(names: Sequence[str], factors: Sequence[Scalar]) -> Formula:
    total: Scalar = Fraction(0)
    for n, factor in zip(names, factors, strict=True):
        total = f.add(total, f.mul(f.name(n), factor))
    return f.formula(total)


def at(shape: Formula, s: ScalarLike) -> Scalar:
    """A shape at a place: a number, or a formula of a place that moves along the beam."""
    value = f.exact(s)
    if isinstance(value, Fraction):
        return f.exact(shape.evaluate({"s": float(value)}))
    return _replaced(shape, value)


def derivative(shape: Formula) -> Formula:
    """d/ds of a shape made of sums, products, integer powers, exp, sin and cos."""
    a = shape.args
    match shape.op:
        case "name":
            return f.formula(1 if shape.value == "s" else 0)
        case "num" | "pi":
            return f.formula(0)
        case "add" | "sub":
            return Formula(shape.op, (derivative(a[0]), derivative(a[1])))
        case "neg":
            return -derivative(a[0])
        case "mul":
            return derivative(a[0]) * a[1] + a[0] * derivative(a[1])
        case "pow" if a[1].op == "num":
            return a[1] * a[0] ** f.formula(Fraction(str(a[1].value)) - 1) * derivative(a[0])
        case "exp":
            return shape * derivative(a[0])
        case "sin":
            return Formula("cos", a) * derivative(a[0])
        case "cos":
            return -(Formula("sin", a) * derivative(a[0]))
    raise InputError(
        f"The derivative of the shape's part {shape} is not known.", value=str(shape),
        remedy="Use sums, products, powers, exp, sin and cos of s.",
    )  # fmt: skip


def _replaced(shape: Formula, value: Formula) -> Formula:
    if shape.op == "name" and shape.value == "s":
        return value
    return Formula(shape.op, tuple(_replaced(a, value) for a in shape.args), shape.value)


# families of shapes, scaled to 1 at s = 1 where they do not vanish there


def clamped_free(n: int) -> tuple[Formula, ...]:
    """The first n shapes of a cantilever, clamped at s = 0; each is 1 at the free end."""
    shapes = []
    for k in range(n):
        b = _root(lambda x: math.cos(x) + 1 / math.cosh(x), (k + 0.5) * math.pi)
        ratio = (math.sinh(b) - math.sin(b)) / (math.cosh(b) + math.cos(b))
        shapes.append(_beam_function(b, -1.0, ratio))
    return tuple(_scaled(shape) for shape in shapes)


def free_free(n: int, rigid: bool = True) -> tuple[Formula, ...]:
    """Shapes of an unrestrained beam.

    First its two rigid-body modes 1 and 2 s - 1 (with `rigid`), then n - 2 (or n) bending shapes.
    """
    bodies = (f.formula(1), 2 * S - 1) if rigid else ()
    shapes = []
    for k in range(n - len(bodies)):
        b = _root(lambda x: math.cos(x) - 1 / math.cosh(x), (k + 1.5) * math.pi)
        ratio = (math.sinh(b) + math.sin(b)) / (math.cosh(b) - math.cos(b))
        shapes.append(_scaled(_beam_function(b, 1.0, ratio)))
    return (*bodies[: max(n, 0)], *shapes)


def pinned_pinned(n: int) -> tuple[Formula, ...]:
    """sin(k pi s), k = 1..n."""
    return tuple(Formula("sin", (f.PI * S * (k + 1),)) for k in range(n))


def axial_fixed_free(n: int) -> tuple[Formula, ...]:
    """sin((k - 1/2) pi s), k = 1..n: stretching of a rod fixed at s = 0."""
    return tuple(Formula("sin", (f.PI * S * Fraction(2 * k + 1, 2),)) for k in range(n))


def _beam_function(b: float, sign: float, ratio: float) -> Formula:
    """cosh bs + sign cos bs - ratio (sinh bs + sign sin bs), written without cancelling exponentials.

    cosh x - r sinh x = (1 - r)/2 e^x + (1 + r)/2 e^-x.
    """
    x = S * f.exact(b)
    grow = _growth(b, sign, ratio)
    parts = Formula("exp", (x - f.exact(b),)) * f.exact(grow) + Formula("exp", (-x,)) * f.exact((1 + ratio) / 2)
    return parts + Formula("cos", (x,)) * f.exact(sign) - Formula("sin", (x,)) * f.exact(sign * ratio)


def _growth(b: float, sign: float, ratio: float) -> float:
    """(1 - ratio) / 2 * e^b without cancellation: from the definition of ratio at the root."""
    s, c = math.sin(b), math.cos(b)
    if sign < 0:  # ratio = (sinh - sin)/(cosh + cos): 1 - ratio = (e^-b + cos + sin)/(cosh + cos)
        return (math.exp(-b) + c + s) * math.exp(b) / (2 * (math.cosh(b) + c))
    return (math.exp(-b) - c - s) * math.exp(b) / (2 * (math.cosh(b) - c))


def _scaled(shape: Formula) -> Formula:
    return shape * f.exact(1 / shape.evaluate({"s": 1.0}))


def _root(function: Any, guess: float) -> float:
    """The root near a guess, by bisection to the last digit."""
    low, high = guess - 0.5, guess + 0.5
    if function(low) * function(high) > 0:
        raise InputError("No root of the frequency equation near the guess.", value=guess)
    for _ in range(200):
        middle = (low + high) / 2
        if function(low) * function(middle) <= 0:
            high = middle
        else:
            low = middle
    return (low + high) / 2


# integrals


def shape_values(shapes: Sequence[Formula], s: Any, order: int = 0) -> Array:
    """Values (shapes, places) of the order-th derivative by s."""
    graph = Graph()
    symbol = graph.symbol("s")
    refs = [shape.build(graph, lambda _: symbol) for shape in shapes]
    for _ in range(order):
        refs = forward(graph, refs, {symbol: graph.one})
    program = build_program(graph, "shapes", (Input("s", ("s",)),), [("values", (len(refs),), refs)])
    return np.asarray(evaluate(program, {"s": np.asarray(s, float)[:, None]})["values"]).T


def _rule(panels: int = 16) -> tuple[Array, Array]:
    """Gauss-Legendre points and weights on [0, 1], 12 a panel."""
    x, w = np.polynomial.legendre.leggauss(12)
    edges = np.linspace(0, 1, panels + 1)
    points = np.concatenate([a + (b - a) * (x + 1) / 2 for a, b in pairwise(edges)])
    return points, np.tile(w / 2 / panels, panels)


def shortening(shapes: Sequence[Formula], s: float) -> Array:
    """int_0^s phi_k' phi_l' ds, (n, n)."""
    return np.asarray(shortenings(shapes, np.array([s]))[0])


def shortenings(shapes: Sequence[Formula], places: Array) -> Array:
    """int_0^s phi_k' phi_l' ds at several places, (places, n, n)."""
    x, w = _rule()
    slopes = shape_values(shapes, (places[:, None] * x).ravel(), 1).reshape(len(shapes), len(places), len(x))
    return np.asarray(np.einsum("kpx,lpx,x,p->pkl", slopes, slopes, w, places))


def bending_stiffness(shapes: Sequence[Formula]) -> Array:
    """int_0^1 phi_k'' phi_l'' ds, (n, n)."""
    x, w = _rule()
    second = shape_values(shapes, x, 2)
    return np.asarray((second * w) @ second.T)


def axial_stiffness(shapes: Sequence[Formula]) -> Array:
    """int_0^1 chi_j' chi_k' ds."""
    return shortening(shapes, 1.0)


def gram(beam: Beam) -> Array:
    """int_0^1 b_i b_j ds of the functions 1, s, phi_k, chi_j and int_0^s phi_k' phi_l' ds (k <= l), in that order."""
    x, w = _rule()
    n = len(beam.shapes)
    rows = [np.ones_like(x), x, *shape_values(beam.shapes, x)] if n else [np.ones_like(x), x]
    if beam.axial_shapes:
        rows += list(shape_values(beam.axial_shapes, x))
    if beam.stiffening == "geometric" and n:
        inner = shortenings(beam.shapes, x)
        rows += [inner[:, k, l] for k in range(n) for l in range(k, n)]
    b = np.array(rows)
    product = (b * w) @ b.T
    return np.asarray((product + product.T) / 2)  # symmetric to the last digit
