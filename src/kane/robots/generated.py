"""Generated robots of any size for tests and benchmarks: rational numbers, the same for the same arguments everywhere.

After the idea of Featherstone's autoTree: a branching factor, a skew between successive axes and a taper of sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from kane.mechanism.formula import Scalar, name, parse
from kane.mechanism.joints import JOINT_TYPES
from kane.mechanism.model import (
    Inertia,
    Joint,
    Limits,
    Link,
    Mechanism,
    Mimic,
    Move,
    Parameter,
    Placement,
    QuaternionTurn,
    Rotor,
    Translate,
    Turn,
    Vector,
)  # fmt: skip

ALL_TYPES = tuple(kind for kind in JOINT_TYPES if kind != "general")
_0 = Fraction(0)
_AXES: tuple[tuple[int, int, int], ...] = (
    (0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 0, -1), (1, 2, 2), (2, -3, 6), (1, 1, 0), (-1, 2, 3), (0, 3, -4),
)  # fmt: skip


class _Draw:
    """Numbers from a linear congruential generator (Knuth, MMIX), so that no library version can change them."""

    def __init__(self, seed: int) -> None:
        self.state = (seed * 2 + 1) & (2**64 - 1)
        for _ in range(4):
            self.integer(0, 1)

    def integer(self, low: int, high: int) -> int:
        """An integer from low to high, both included."""
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) & (2**64 - 1)
        return low + (self.state >> 33) % (high - low + 1)

    def hundredths(self, low: int, high: int) -> Fraction:
        return Fraction(self.integer(low, high), 100)


def chain(
    n: int, *, types: Sequence[str] = ("revolute",), seed: int = 0, skew: bool = True, taper: Fraction = Fraction(1)
) -> Mechanism:
    """A chain of n joints of the given types in turn."""
    return tree(n, branching=1, types=types, seed=seed, skew=skew, taper=taper)


def tree(
    n: int,
    *,
    branching: int = 2,
    types: Sequence[str] = ("revolute",),
    seed: int = 0,
    skew: bool = True,
    taper: Fraction = Fraction(1),
    extras: bool = False,
) -> Mechanism:
    """A tree of n joints; link k hangs on link (k - 2 + branching) // branching of those before it.

    types: joint types, used in turn ("fixed" included).  skew: axes and placements in general directions, else along
    the coordinate axes.  taper: ratio of the sizes of successive generations.  extras: rotors, damping, friction,
    springs and one mimic joint are added.
    """
    draw = _Draw(seed)
    links, joints = [Link("base")], []
    scale = [Fraction(1)]
    for k in range(1, n + 1):
        above = (k - 2 + branching) // branching if k > 1 else 0
        size = scale[above] * (taper if k > 1 else 1)
        scale.append(size)
        parent = "base" if above == 0 else f"link{above}"
        kind = types[(k - 1) % len(types)]
        joint = Joint(
            f"joint{k}",
            kind,
            parent,
            f"link{k}",
            _place(draw, size, skew),
            _axis(draw, skew),
            pitch=draw.hundredths(2, 9) if kind == "screw" else _0,
            limits=Limits(-2.0, 2.0, 5.0, 50.0),
        )
        joints.append(_with_extras(draw, joint) if extras else joint)
        links.append(Link(f"link{k}", _inertia(draw, size)))
    if extras:
        joints = _with_mimic(joints)
    return Mechanism(f"tree{n}", tuple(links), tuple(joints))


def symbolic_arm(twists: Sequence[str], *, products: bool = True) -> Mechanism:
    """A serial arm of revolute joints with every length and inertial parameter a named symbol without a value.

    twists: alpha_{i-1} of the modified DH convention as text, such as ("0", "pi/2", "0"); lengths a2..., d1...
    """
    links, parameters = [Link("base")], list[Parameter]()
    joints: list[Joint] = []
    for k, twist in enumerate(twists, 1):
        keys = [f"a{k}", f"d{k}"] if k > 1 else []
        inertial = [f"{key}{k}" for key in ("m", "rx", "ry", "rz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")]
        if not products:
            inertial = [key for key in inertial if key[:3] not in ("Ixy", "Ixz", "Iyz")]
        parameters += [Parameter(key) for key in (*keys, *inertial)]
        moves: list[Move] = []
        if (alpha := parse(twist)) != 0:
            moves.append(Turn(0, alpha))
        if keys:
            moves.append(Translate((name(keys[0]), _0, name(keys[1]))))
        parent = joints[-1].child if joints else "base"
        joints.append(Joint(f"joint{k}", "revolute", parent, f"link{k}", tuple(moves), coordinates=(f"q{k}",)))

        def s(key: str, k: int = k, known: frozenset[str] = frozenset(inertial)) -> Scalar:
            return name(f"{key}{k}") if f"{key}{k}" in known else _0

        moments = (s("Ixx"), s("Ixy"), s("Ixz"), s("Iyy"), s("Iyz"), s("Izz"))
        links.append(Link(f"link{k}", Inertia(s("m"), (s("rx"), s("ry"), s("rz")), moments)))
    return Mechanism(f"arm{len(twists)}", tuple(links), tuple(joints), parameters=tuple(parameters))


def _place(draw: _Draw, size: Fraction, skew: bool) -> Placement:
    step: Vector = (draw.hundredths(5, 30) * size, draw.hundredths(-20, 20) * size, draw.hundredths(-20, 20) * size)
    if not skew:
        return (Translate(step), Turn(0, parse(("0.5*pi", "-pi/2", "pi")[draw.integer(0, 2)])))
    if draw.integer(0, 1):
        return (Translate(step), Turn(2, draw.hundredths(-150, 150)), Turn(1, draw.hundredths(-150, 150)))
    w, x, y, z = (Fraction(draw.integer(-4, 4)) for _ in range(4))
    return (Translate(step), QuaternionTurn((w + 5, x, y, z)))


def _axis(draw: _Draw, skew: bool) -> Vector:
    x, y, z = _AXES[draw.integer(0, len(_AXES) - 1 if skew else 3)]
    return Fraction(x), Fraction(y), Fraction(z)


def _inertia(draw: _Draw, size: Fraction) -> Inertia:
    """A full tensor of a body: principal second moments a, b, c > 0 give (b + c, a + c, a + b), in turned axes."""
    mass = draw.hundredths(50, 400) * size**3
    a, b, c = (mass * draw.hundredths(1, 9) * size**2 / 10 for _ in range(3))
    com: Vector = (draw.hundredths(-9, 20) * size, draw.hundredths(-9, 9) * size, draw.hundredths(-9, 9) * size)
    axes = QuaternionTurn((Fraction(5), *(Fraction(draw.integer(-3, 3)) for _ in range(3))))  # type: ignore[arg-type]
    return Inertia(mass, com, (b + c, _0, _0, a + c, _0, a + b), (axes,))


def _with_extras(draw: _Draw, joint: Joint) -> Joint:
    if len(JOINT_TYPES[joint.type].angles) != 1:
        return joint
    return replace(
        joint,
        rotor=Rotor(draw.hundredths(1, 5) / 100, Fraction(draw.integer(20, 90))),
        damping=draw.hundredths(1, 50),
        friction=draw.hundredths(1, 30),
        stiffness=draw.hundredths(0, 200),
    )


def _with_mimic(joints: list[Joint]) -> list[Joint]:
    single = [k for k, joint in enumerate(joints) if len(JOINT_TYPES[joint.type].angles) == 1]
    if len(single) < 2:
        return joints
    leader, follower = joints[single[0]], joints[single[-1]]
    changed = list(joints)
    changed[single[-1]] = replace(follower, mimic=Mimic(leader.name, Fraction(-1, 2), Fraction(1, 10)))
    return changed
