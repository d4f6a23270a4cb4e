"""Step 1: every element of the kinetic energy matrix and of gravity, exactly, by composite bodies.

Momentum of the composite body beyond joint i for a unit rate of joint i, carried down to joint j, gives a_ij; its
linear part at the root, against gravity, gives g_i.  On the way each joint's sine and cosine enters once, so nothing
needs to be reduced until followers are merged: a product by them only renames keys.

An element is a dict from a trigonometric key to a Coefficient.  A key has a code for each coordinate: 2 b + a for cos^a
sin^b of an angle (a 0 or 1), the exponent for a slide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from kane.explicit.algebra import Atoms, Coefficient, Number, accumulate, scale
from kane.explicit.arm import Arm, Step
from kane.explicit.moves import PAIRS, About, Along, Fixed, Turned

Key = tuple[int, ...]
Element = dict[Key, Coefficient]
Packed = dict[int, Coefficient]  # four bits a step: cosine and sine exponents (2 bits each), or the slide's exponent
_INDEX = ((0, 1, 2), (1, 3, 4), (2, 4, 5))
_COS, _SIN = 1, 4


def plus(a: Packed, b: Packed, factor: Number = 1) -> Packed:
    """a + factor * b; coefficients are shared, never changed in place."""
    result = dict(a)
    for key, value in b.items():
        accumulate(result, key, value, factor)
    return result


def times_key(a: Packed, shift: int) -> Packed:
    """Product by a sine, cosine or slide that the keys do not hold yet."""
    return {key + shift: value for key, value in a.items()}


def times(atoms: Atoms, a: Packed, c: Coefficient) -> Packed:
    """Product by a constant."""
    if list(c) == [0]:
        return {key: scale(value, c[0]) for key, value in a.items()}
    return {key: product for key, value in a.items() if (product := atoms.mul(value, c))}


@dataclass(frozen=True, slots=True)
class Composite:
    """Mass, first moment and inertia of everything beyond, about the origin of a frame."""

    mass: Packed
    first: list[Packed]
    tensor: list[Packed]

    def merged(self, other: Composite) -> Composite:
        return Composite(
            plus(self.mass, other.mass),
            [plus(a, b) for a, b in zip(self.first, other.first, strict=True)],
            [plus(a, b) for a, b in zip(self.tensor, other.tensor, strict=True)],
        )


_EMPTY = Composite({}, [{}, {}, {}], [{}, {}, {}, {}, {}, {}])


class _Scale:
    """What turns and shifts multiply by: a constant, or the key of a joint's sine, cosine or slide."""

    def __init__(self, atoms: Atoms, constant: Coefficient | None, shift: int, ratio: Number = 1) -> None:
        self.atoms, self.constant, self.shift, self.ratio = atoms, constant, shift, ratio

    def __call__(self, a: Packed, factor: Number = 1) -> Packed:
        if not a or self.constant == {}:
            return {}
        if self.constant is not None:
            return times(self.atoms, a, scale(self.constant, factor))
        factor = factor * self.ratio
        return {key + self.shift: scale(value, factor) for key, value in a.items()}

    def squared(self, a: Packed) -> Packed:
        return self(self(a))


def shift_body(b: Composite, axis: int, by: _Scale) -> Composite:
    """Parameters about an origin moved back along an axis: h + m t, I + 2 (h.t) 1 - h t - t h + m (t.t 1 - t t)."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    first, tensor = list(b.first), list(b.tensor)
    across = plus(by(b.first[axis], 2), by.squared(b.mass))
    for k in (i, j):
        tensor[_INDEX[k][k]] = plus(tensor[_INDEX[k][k]], across)
        tensor[_INDEX[axis][k]] = plus(tensor[_INDEX[axis][k]], by(b.first[k]), -1)
    first[axis] = plus(first[axis], by(b.mass))
    return Composite(b.mass, first, tensor)


def turn_body(b: Composite, axis: int, cos: _Scale, sin: _Scale) -> Composite:
    """Parameters in the axes before a turn about an axis."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    ii, jj, ij, ik, jk = _INDEX[i][i], _INDEX[j][j], _INDEX[i][j], _INDEX[i][axis], _INDEX[j][axis]
    t = list(b.tensor)
    difference = plus(b.tensor[ii], b.tensor[jj], -1)
    moved = plus(sin(sin(difference)), cos(sin(b.tensor[ij], 2)))  # s^2 (Tii - Tjj) + 2 s c Tij
    t[ii], t[jj] = plus(b.tensor[ii], moved, -1), plus(b.tensor[jj], moved)
    t[ij] = plus(plus(cos(sin(difference)), sin(sin(b.tensor[ij], 2)), -1), b.tensor[ij])
    t[ik] = plus(cos(b.tensor[ik]), sin(b.tensor[jk]), -1)
    t[jk] = plus(sin(b.tensor[ik]), cos(b.tensor[jk]))
    return Composite(b.mass, turn_vector(b.first, axis, cos, sin), t)


def turn_vector(v: Sequence[Packed], axis: int, cos: _Scale, sin: _Scale) -> list[Packed]:
    i, j = (axis + 1) % 3, (axis + 2) % 3
    result = list(v)
    result[i], result[j] = plus(cos(v[i]), sin(v[j]), -1), plus(sin(v[i]), cos(v[j]))
    return result


def shift_momentum(force: Sequence[Packed], moment: Sequence[Packed], axis: int, by: _Scale) -> list[Packed]:
    """Moment of momentum about an origin moved back along an axis: n + t x f."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    result = list(moment)
    result[i] = plus(result[i], by(force[j]), -1)
    result[j] = plus(result[j], by(force[i]))
    return result


def _matrix_vector(atoms: Atoms, move: Turned, v: Sequence[Packed]) -> list[Packed]:
    result = []
    for row in move.rows:
        total: Packed = {}
        for e, x in zip(row, v, strict=True):
            if e:
                total = plus(total, times(atoms, x, e))
        result.append(total)
    return result


def _matrix_tensor(atoms: Atoms, move: Turned, t: Sequence[Packed]) -> list[Packed]:
    half = [_matrix_vector(atoms, move, [t[_INDEX[i][j]] for j in range(3)]) for i in range(3)]
    columns = [_matrix_vector(atoms, move, [half[i][j] for i in range(3)]) for j in range(3)]
    return [columns[j][i] for i, j in PAIRS]


class _Walk:
    """Bodies and momenta through the moves of one arm."""

    def __init__(self, arm: Arm, atoms: Atoms) -> None:
        self.arm, self.atoms = arm, atoms

    def composites(self) -> list[Composite]:
        """Everything beyond each step, about its frame."""
        result = []
        for step in self.arm.steps:
            b = step.body
            if b is None:
                result.append(_EMPTY)
            else:
                result.append(Composite(_lone(b.mass), [_lone(c) for c in b.first], [_lone(c) for c in b.tensor]))
        for index in reversed(range(len(self.arm.steps))):
            parent = self.arm.steps[index].parent
            if parent >= 0:
                result[parent] = result[parent].merged(self.body_down(index, result[index]))
        return result

    def motion(self, index: int) -> tuple[_Scale, _Scale]:
        """(cos, sin) of a turn, or the slide twice."""
        step = self.arm.steps[index]
        if step.kind == "turn":
            return _Scale(self.atoms, None, _COS << (4 * index)), _Scale(self.atoms, None, _SIN << (4 * index))
        ratio = step.ratio.numerator if step.ratio.denominator == 1 else step.ratio
        slide = _Scale(self.atoms, None, 1 << (4 * index), ratio)
        return slide, slide

    def body_down(self, index: int, b: Composite) -> Composite:
        """The composite of a step, from its frame to its parent step's frame."""
        step = self.arm.steps[index]
        cos, sin = self.motion(index)
        b = turn_body(b, step.axis, cos, sin) if step.kind == "turn" else shift_body(b, step.axis, cos)
        for move in reversed(step.fixed):
            if isinstance(move, Along):
                b = shift_body(b, move.axis, _Scale(self.atoms, move.by, 0))
            elif isinstance(move, About):
                b = turn_body(b, move.axis, _Scale(self.atoms, move.cos, 0), _Scale(self.atoms, move.sin, 0))
            else:
                tensor = _matrix_tensor(self.atoms, move, b.tensor)
                b = Composite(b.mass, _matrix_vector(self.atoms, move, b.first), tensor)
        return b

    def momentum_down(self, index: int, force: list[Packed], moment: list[Packed]) -> tuple[list[Packed], list[Packed]]:
        """Linear and angular momentum from a step's frame to its parent step's frame."""
        step = self.arm.steps[index]
        cos, sin = self.motion(index)
        if step.kind == "turn":
            force, moment = turn_vector(force, step.axis, cos, sin), turn_vector(moment, step.axis, cos, sin)
        else:
            moment = shift_momentum(force, moment, step.axis, cos)
        return self.fixed_down(step.fixed, force, moment)

    def fixed_down(
        self, fixed: Sequence[Fixed], force: list[Packed], moment: list[Packed]
    ) -> tuple[list[Packed], list[Packed]]:
        for move in reversed(fixed):
            if isinstance(move, Along):
                moment = shift_momentum(force, moment, move.axis, _Scale(self.atoms, move.by, 0))
            elif isinstance(move, About):
                c, s = _Scale(self.atoms, move.cos, 0), _Scale(self.atoms, move.sin, 0)
                force, moment = turn_vector(force, move.axis, c, s), turn_vector(moment, move.axis, c, s)
            else:
                force = _matrix_vector(self.atoms, move, force)
                moment = _matrix_vector(self.atoms, move, moment)
        return force, moment


def potential(arm: Arm, atoms: Atoms) -> Element:
    """The potential energy of gravity, -(sum of first moments) . gravity, up to a constant."""
    walk = _Walk(arm, atoms)
    composites = walk.composites()
    result: Element = {}
    reduce = Reducer(arm)
    for index, step in enumerate(arm.steps):
        if step.parent < 0:
            first = walk.body_down(index, composites[index]).first
            for axis in range(3):
                if arm.gravity[axis] and first[axis]:
                    reduce.into(result, times(atoms, first[axis], arm.gravity[axis]), -1)
    return {key: value for key, value in result.items() if any(key)}


def unit_momentum(b: Composite, step: Step) -> tuple[list[Packed], list[Packed]]:
    """Linear and angular momentum of a composite for a unit rate of its step, about the step's frame."""
    k = step.axis
    i, j = (k + 1) % 3, (k + 2) % 3
    force: list[Packed] = [{}, {}, {}]
    moment: list[Packed] = [{}, {}, {}]
    if step.kind == "turn":  # e x h, I e
        force[i], force[j] = _minus(b.first[j]), b.first[i]
        moment = [b.tensor[_INDEX[row][k]] for row in range(3)]
    else:  # m e, h x e
        force[k] = b.mass
        moment[i], moment[j] = b.first[j], _minus(b.first[i])
    return force, moment


def _minus(a: Packed) -> Packed:
    return {key: scale(value, -1) for key, value in a.items()}


def energy(arm: Arm, atoms: Atoms) -> tuple[list[list[Element]], list[Element]]:
    """Kinetic energy matrix A (without rotors) and gravity forces g of an arm, as polynomials in its coordinates."""
    walk = _Walk(arm, atoms)
    composites = walk.composites()
    n = len(arm.names)
    a: list[list[Element]] = [[{} for _ in range(n)] for _ in range(n)]
    g: list[Element] = [{} for _ in range(n)]
    reduce = Reducer(arm)
    for index, step in enumerate(arm.steps):
        force, moment = unit_momentum(composites[index], step)
        at = index
        rate = step.ratio
        while True:
            other = arm.steps[at]
            component = moment[other.axis] if other.kind == "turn" else force[other.axis]
            weight = rate * other.ratio
            row, column = sorted((step.coordinate, other.coordinate))
            if at != index and row == column:
                weight *= 2
            reduce.into(a[row][column], component, weight)
            force, moment = walk.momentum_down(at, force, moment)
            if other.parent < 0:
                break
            at = other.parent
        for axis in range(3):
            if arm.gravity[axis] and force[axis]:
                reduce.into(g[step.coordinate], times(atoms, force[axis], arm.gravity[axis]), -rate)
    for i in range(n):
        for j in range(i):
            a[i][j] = a[j][i]
    return a, g


def _lone(c: Coefficient) -> Packed:
    return {0: c} if c else {}


class Reducer:
    """Packed keys of the steps to keys of the coordinates.

    Followers are merged, cos^2 = 1 - sin^2, cos(k q) by Chebyshev polynomials.
    """

    def __init__(self, arm: Arm) -> None:
        self.arm = arm
        self._known: dict[int, list[tuple[Key, Number]]] = {}

    def into(self, element: Element, packed: Packed, factor: Number) -> None:
        """Add factor * packed to an element in place."""
        factor = factor.numerator if factor.denominator == 1 else factor
        for key, value in packed.items():
            for reduced, number in self.key(key):
                accumulate(element, reduced, value, number * factor)

    def key(self, packed: int) -> list[tuple[Key, Number]]:
        known = self._known.get(packed)
        if known is not None:
            return known
        factors: list[dict[int, int]] = [{0: 1} for _ in self.arm.names]
        for index, step in enumerate(self.arm.steps):
            code = (packed >> (4 * index)) & 15
            if not code:
                continue
            if step.kind == "slide":
                factors[step.coordinate] = {k + code: v for k, v in factors[step.coordinate].items()}
                continue
            cos, sin = multiple_angle(int(step.ratio))
            for power, base in ((code & 3, cos), (code >> 2, sin)):
                for _ in range(power):
                    factors[step.coordinate] = code_product(factors[step.coordinate], base)
        result: list[tuple[Key, Number]] = [((), 1)]
        for factor in factors:
            result = [((*key, code), n * m) for key, n in result for code, m in factor.items()]
        self._known[packed] = result
        return result


def code_product(a: dict[int, int], b: dict[int, int]) -> dict[int, int]:
    """Product of polynomials in one angle, codes 2 b + a for cos^a sin^b."""
    result: dict[int, int] = {}
    for x, u in a.items():
        for y, v in b.items():
            code, value = x + y, u * v
            parts = [(code, value)]
            if x & 1 and y & 1:  # cos^2 = 1 - sin^2
                parts = [(code - 2, value), (code + 2, -value)]
            for k, w in parts:
                total = result.get(k, 0) + w
                if total:
                    result[k] = total
                else:
                    result.pop(k, None)
    return result


def multiple_angle(k: int) -> tuple[dict[int, int], dict[int, int]]:
    """cos(k q) and sin(k q) as polynomials in one angle."""
    cos: dict[int, int] = {0: 1}
    sin: dict[int, int] = {}
    for _ in range(abs(k)):
        c1, s1 = code_product(cos, {1: 1}), code_product(sin, {2: 1})
        c2, s2 = code_product(sin, {1: 1}), code_product(cos, {2: 1})
        cos = {key: v for key in {**c1, **s1} if (v := c1.get(key, 0) - s1.get(key, 0))}
        sin = {key: v for key in {**c2, **s2} if (v := c2.get(key, 0) + s2.get(key, 0))}
    return cos, sin if k >= 0 else {key: -v for key, v in sin.items()}


def derivative(element: Element, coordinate: int, turns: bool) -> Element:
    """The partial derivative of an element by a coordinate."""
    result: Element = {}
    for key, value in element.items():
        code = key[coordinate]
        parts: list[tuple[int, Number]]
        if not turns:
            parts = [(code - 1, code)] if code else []
        elif code & 1:  # (cos sin^b)' = -(1 + b) sin^(b+1) + b sin^(b-1)
            b = code >> 1
            parts = [(code + 1, -(1 + b)), *([(code - 3, b)] if b else [])]
        else:  # (sin^b)' = b cos sin^(b-1)
            b = code >> 1
            parts = [(2 * (b - 1) + 1, b)] if b else []
        for new, factor in parts:
            accumulate(result, (*key[:coordinate], new, *key[coordinate + 1 :]), value, factor)
    return result


def combine(a: Element, b: Element, factor: Number = Fraction(1)) -> Element:
    """a + factor * b."""
    factor = factor.numerator if factor.denominator == 1 else factor
    result = dict(a)
    for key, value in b.items():
        accumulate(result, key, value, factor)
    return result
