"""Inertial parameters of the moving bodies, and their regrouping to base parameters.

Inside the equations a body is (m, h, I): mass, first moment h = m c and inertia about the node's origin, in node
axes; the equations are linear in them.  Bodies fixed to each other are one; sums are formed about mass centres.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from kane.errors import InputError
from kane.graph.arena import Graph, Ref
from kane.graph.program import has_symbols, operands_first
from kane.kinematics import vectors as v
from kane.kinematics.motion import Kinematics, NodeMotion, Shift, Step, partials_of, rates_of, speeds_of
from kane.kinematics.tree import ROOT, Attached, Node
from kane.kinematics.vectors import INDEX, SYM_ZERO, SimpleRotation, Sym, Vec
from kane.mechanism.given import INERTIAL
from kane.mechanism.joints import joint_type
from kane.mechanism.model import Inertia

PARAMETERS = INERTIAL


@dataclass(frozen=True, slots=True)
class BodyInertia:
    """Mass, first moment and inertia about the origin of a node's frame, node axes: kg, kg m, kg m^2."""

    mass: Ref = 0
    first: Vec = v.ZERO
    tensor: Sym = SYM_ZERO

    def refs(self) -> tuple[Ref, ...]:
        """The ten parameters in the order of PARAMETERS."""
        return (self.mass, *self.first, *self.tensor)


@dataclass(frozen=True, slots=True)
class RotorTerm:
    """A motor rotor: node it drives, inertia J, ratio; for an exact one also the carrier node and its axis there."""

    joint: str
    node: int
    inertia: Ref
    ratio: Ref
    carrier: int | None = None
    axis: Vec = v.ZERO


def combine(g: Graph, a: BodyInertia, b: BodyInertia) -> BodyInertia:
    """Two bodies as one, in the same frame."""
    return BodyInertia(g.add(a.mass, b.mass), v.add(g, a.first, b.first), v.sym_add(g, a.tensor, b.tensor))


def carry_out(g: Graph, steps: Sequence[Step], body: BodyInertia) -> BodyInertia:
    """The body's parameters in the frame before the steps.

    h' = h + m d,  I' = I - (h x)(d x) - (d x)(h x) - m (d x)(d x).
    """
    for step in reversed(steps):
        if isinstance(step, Shift):
            d = step.by
            tensor = v.sym_add(
                g, body.tensor, v.parallel(g, body.first, d), v.sym_scale(g, body.mass, v.shell(g, d))
            )
            body = BodyInertia(body.mass, v.add(g, body.first, v.scale(g, body.mass, d)), tensor)
        else:
            body = BodyInertia(body.mass, step.out(g, body.first), step.sym_out(g, body.tensor))
    return body


def inverse_steps(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps from the last frame back to the first."""
    back: list[Step] = []
    for step in reversed(steps):
        if isinstance(step, Shift):
            back.append(Shift(v.neg(step.by)))
        elif isinstance(step, SimpleRotation):
            back.append(SimpleRotation(step.axis, step.cos, step.sin ^ 1))
        else:
            back.append(v.MatrixRotation(v.transpose(step.rows)))
    return tuple(back)


def head(k: Kinematics, node: Node) -> Attached:
    """The link whose frame a node's body parameters are in: the child of its joint."""
    child = k.mechanism.joint(node.joint).child
    return next((item for item in node.links if item.link == child), node.links[0])


def node_bodies(k: Kinematics) -> list[BodyInertia]:
    """The lumped body of each node, from the description's values or named parameters."""
    return [lump(k, node.links) for node in k.tree.nodes]


def lump(k: Kinematics, attached: Sequence[Attached]) -> BodyInertia:
    """All bodies attached to one frame as one body: each link takes up those fixed to it, then the frame takes all."""
    g, links = k.graph, {item.link: item for item in attached}
    inertias = {link.name: link.inertia for link in k.mechanism.links if link.name in links}
    above = {j.child: j.parent for j in k.mechanism.joints if j.child in links and j.parent in links}
    below: dict[str, list[str]] = {}
    for child, parent in above.items():
        below.setdefault(parent, []).append(child)
    carried: dict[str, BodyInertia] = {}  # what is fixed to a link, in its frame, without its own inertia
    body = BodyInertia()
    for name in operands_first([name for name in links if name not in above], lambda name: below.get(name, ())):
        holder = above.get(name)
        placement = links[name].placement[0 if holder is None else len(links[holder].placement) :]
        steps, inertia = k.steps(placement), inertias[name]
        whole = carry_out(g, steps, carried.pop(name)) if name in carried else BodyInertia()
        if inertia is not None:
            whole = combine(g, whole, _placed(k, inertia, steps))
        if holder is None:
            body = combine(g, body, whole)
        else:
            carried[holder] = combine(g, carried[holder], whole) if holder in carried else whole
    return body


def _placed(k: Kinematics, inertia: Inertia, steps: Sequence[Step]) -> BodyInertia:
    """One body in the frame before the steps, by way of its mass centre."""
    g = k.graph
    mass = k.scalar(inertia.mass)
    cx, cy, cz = (k.scalar(s) for s in inertia.com)
    t = [k.scalar(s) for s in inertia.moments]
    central: Sym = (t[0], t[1], t[2], t[3], t[4], t[5])
    for step in reversed(k.steps(inertia.axes)):
        if not isinstance(step, Shift):
            central = step.sym_out(g, central)
    com: Vec = (cx, cy, cz)
    for step in reversed(steps):
        if isinstance(step, Shift):
            com = v.add(g, com, step.by)
        else:
            com, central = step.out(g, com), step.sym_out(g, central)
    return BodyInertia(mass, v.scale(g, mass, com), v.sym_add(g, central, v.sym_scale(g, mass, v.shell(g, com))))


def symbolic_bodies(
    k: Kinematics, bodies: Sequence[BodyInertia], wanted: Sequence[str] | None = None
) -> tuple[list[BodyInertia], dict[str, Ref]]:
    """Bodies with their ten parameters as symbols "link.m", "link.hx", ..., and what each symbol stands for.

    They are the parameters of all that is fixed to the head link, in its frame.  Without `wanted` those that are
    identically zero stay zero.  wanted: the names that become symbols ("link" for all ten of a link), zero or not.
    Parameters that are already formulas in named parameters stay as they are; InputError where one of them is wanted.
    """
    g = k.graph
    made: dict[str, Ref] = {}
    result = []
    for node, body in zip(k.tree.nodes, bodies, strict=True):
        if not node.links:
            result.append(body)
            continue
        item = head(k, node)
        steps = k.steps(item.placement)
        refs = []
        for letter, ref in zip(PARAMETERS, carry_out(g, inverse_steps(steps), body).refs(), strict=True):
            full = f"{item.link}.{letter}"
            asked = ref > 1 if wanted is None else item.link in wanted or full in wanted
            formula = has_symbols(g, ref)
            if formula and asked and wanted is not None:
                raise InputError(
                    f"{full!r} is a formula in parameters of the description.", name=full,
                    remedy="Name the parameters that the formula is made of.",
                )  # fmt: skip
            if asked and not formula:
                made[full] = ref
                ref = g.symbol(full, "parameter")
            refs.append(ref)
        result.append(carry_out(g, steps, from_refs(refs)))
    return result, made


def from_refs(refs: Sequence[Ref]) -> BodyInertia:
    """A body from its ten parameters in the order of PARAMETERS."""
    m, hx, hy, hz, xx, xy, xz, yy, yz, zz = refs
    return BodyInertia(m, (hx, hy, hz), (xx, xy, xz, yy, yz, zz))


def rotor_terms(k: Kinematics) -> list[RotorTerm]:
    """The rotors of all joints; reflected unless the description asks for exact ones."""
    g = k.graph
    terms = []
    for joint in k.mechanism.joints:
        if joint.rotor is None:
            continue
        node = next((i for i, n in enumerate(k.tree.nodes) if n.joint == joint.name), None)
        if node is None:
            continue
        inertia, ratio = k.scalar(joint.rotor.inertia), k.scalar(joint.rotor.ratio)
        if not joint.rotor.exact:
            terms.append(RotorTerm(joint.name, node, inertia, ratio))
            continue
        carrier, placement = k.tree.locate(joint.rotor.carrier or joint.parent)
        axis = joint.rotor.axis or joint.axis
        steps = list(k.steps(placement))
        if joint.rotor.axis is None and joint.rotor.carrier is None:
            steps += k.steps(joint.placement)
        x, y, z = (k.scalar(s) for s in axis)
        length = g.sqrt(g.dot((x, y, z), (x, y, z)))
        spin = v.scale(g, g.div(g.one, length), (x, y, z))
        for step in reversed(steps):
            spin = spin if isinstance(step, Shift) else step.out(g, spin)
        terms.append(RotorTerm(joint.name, node, inertia, ratio, carrier if carrier != ROOT else None, spin))
    return terms


def rotor_drive(k: Kinematics, rotor: RotorTerm) -> NodeMotion:
    """The rate of the coordinate that a rotor follows, and its partials, as a motion of one component (sign kept)."""
    g, s = k.graph, k.symbols
    joint = k.mechanism.joint(rotor.joint)
    value = k.coordinates.values[joint_type(joint).coordinates(joint)[0]]
    rate = (rates_of(g, s, [k.scalar(value)])[0], 0, 0)
    return NodeMotion((), Shift(v.ZERO), "slide", None, rate, dict(partials_of(g, rate, speeds_of(s))))


def regroup(k: Kinematics, bodies: Sequence[BodyInertia]) -> list[BodyInertia]:
    """Bodies with the parameters that a joint cannot tell from its parent's moved there (Khalil and Kleinfinger 1987).

    Turn about axis z of the node: m, hz and diag(Iyy, Iyy, 0) go to the parent (any axis likewise); slide: the whole
    tensor goes.  Torques are unchanged; the regrouped values are the base parameters of chains in general position.
    """
    g = k.graph
    result = list(bodies)
    for index in reversed(range(len(result))):
        m, parent = k.motions[index], k.tree.nodes[index].parent
        body = result[index]
        if m.kind == "ball" or m.own_axes:
            continue
        if m.kind == "turn":
            assert m.axis is not None
            moved = _turn_invariant(body, m.axis)
        else:
            moved = BodyInertia(0, v.ZERO, body.tensor)
        kept = [g.sub(a, b) for a, b in zip(body.refs(), moved.refs(), strict=True)]
        result[index] = from_refs(kept)
        if parent != ROOT:
            placed = carry_out(g, m.fixed, moved)
            result[parent] = combine(g, result[parent], placed)
    return result


def _turn_invariant(body: BodyInertia, axis: int) -> BodyInertia:
    """The part of a body that turning about the axis does not change: mass, moment along it, axial symmetric tensor."""
    j = (axis + 1) % 3
    across = body.tensor[INDEX[j][j]]
    tensor = list(SYM_ZERO)
    for i in range(3):
        if i != axis:
            tensor[INDEX[i][i]] = across
    first = [0, 0, 0]
    first[axis] = body.first[axis]
    return BodyInertia(
        body.mass, (first[0], first[1], first[2]), (tensor[0], tensor[1], tensor[2], tensor[3], tensor[4], tensor[5])
    )


def numeric_value(g: Graph, ref: Ref) -> Fraction | float | None:
    """The number a parameter expression is: exact where rational, else a float; None when it has symbols."""
    exact = g.value_of(ref)
    if exact is not None:
        return exact
    if has_symbols(g, ref):
        return None
    from kane.graph.evaluate import evaluate
    from kane.graph.program import build_program

    program = build_program(g, "value", (), [("value", (), [ref])])
    return float(evaluate(program, {})["value"])
