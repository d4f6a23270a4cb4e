"""Scalars with everything names can mean: coordinates, rates, speeds, parameters, inputs, measures.

Measures are components of motions, by names of points and frames: `velocity(P, A, n1)` of point P in frame A along n1;
`material_velocity(P, B, n1)` in N of the point of body B that is at P; `angular_velocity(B, A, b3)` of B in A;
`position(P, Q, n1)` from Q to P; `distance(P, Q)` and `distance_dot(P, Q)`. An axis is a basis vector's printed name
(a1, b3, n2) or `frame.x`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kane.errors import InputError, UnknownNameError
from kane.graph.arena import Ref
from kane.kinematics import points as pt
from kane.kinematics import vectors as v
from kane.kinematics.points import Mixed, Points
from kane.mechanism import formula as f
from kane.mechanism.basis import FrameVector, label
from kane.mechanism.constraints import GivenVelocity
from kane.mechanism.formula import MEASURES, Scalar
from kane.mechanism.loads import Input
from kane.mechanism.model import Axis


@dataclass(frozen=True, slots=True)
class Measures:
    """Resolves scalars and vectors of loads, constraints and speeds; `natural`: the joints' own speeds."""

    points: Points
    natural: Mapping[str, Ref]
    _names: dict[str, Ref] = field(default_factory=dict)

    def scalar(self, value: Scalar) -> Ref:
        """The reference of a scalar; UnknownNameError for a name that means nothing."""
        return f.build(value, self.points.graph, self._name)

    def vector(self, value: FrameVector) -> Mixed:
        """A vector in named bases, as pieces by axes."""
        p = self.points
        return pt.mixed_add(
            p, *({p.axes_of(frame): v.scale(p.graph, self.scalar(c), v.unit(axis))} for frame, axis, c in value.terms)
        )

    def _name(self, text: str) -> Ref:
        if text not in self._names:
            self._names[text] = self._resolve(text)
        return self._names[text]

    def _resolve(self, text: str) -> Ref:
        p = self.points
        g, s, m = p.graph, p.symbols, p.mechanism
        if text in s.by_name:
            return s.by_name[text]
        if text == "t":
            return g.symbol("t")
        if text in self.natural:
            return self.natural[text]
        if text.endswith("_dot") and text[:-4] in s.rates:
            return s.rates[text[:-4]]
        if text in p.coordinates.speeds and s.u:
            return s.u[p.coordinates.speeds.index(text)]
        if text.partition("(")[0] in MEASURES:
            return self._measure(text)
        known = {q.name: q.value for q in m.parameters}
        if text in known and (known[text] is None or text in p.free):
            return g.symbol(text, "parameter")
        if text in known:
            return g.number(known[text])  # type: ignore[arg-type]
        inputs = [load.name for load in m.loads if isinstance(load, Input)]
        if text in inputs:
            return g.symbol(text)
        raise UnknownNameError(
            f"{text!r} is not defined; there are coordinates {', '.join(s.by_name)}, "
            f"speeds {', '.join(p.coordinates.speeds)}, "
            f"parameters {', '.join(known) or 'none'} and inputs {', '.join(inputs) or 'none'}.",
            name=text,
            remedy="Declare it as a coordinate, a parameter or an input.",
        )

    def _measure(self, text: str) -> Ref:
        p, g = self.points, self.points.graph
        kind, _, rest = text.rstrip(")").partition("(")
        a = [part.strip() for part in rest.split(",")]
        wanted = 2 if kind.startswith("distance") else 3
        if len(a) != wanted:
            raise UnknownNameError(f"{text!r} needs {wanted} names.", name=text)
        if wanted == 2:
            arm = pt.position(p, p.station(a[0]), p.station(a[1]))
            distance = g.sqrt(pt.mixed_dot(p, arm, arm))
            return distance if kind == "distance" else pt.time_derivative(p, [distance])[0]
        axes, axis = self.axis(a[2])
        match kind:
            case "position":
                vector = pt.position(p, p.station(a[0]), p.station(a[1]))
            case "velocity":
                vector = self.relative_velocity(a[0], a[1])
            case "material_velocity":
                vector = pt.material_velocity(p, p.station(a[1]), p.station(a[0]))
            case _:
                vector = pt.mixed_add(p, self.angular_velocity(a[0]), pt.mixed_neg(self.angular_velocity(a[1])))
        return pt.gather(p, vector, axes)[axis]

    def relative_velocity(self, point: str, frame: str) -> Mixed:
        """The velocity of a point in a frame: its velocity in N less that of the coinciding point of the frame."""
        p = self.points
        own = pt.velocity(p, p.station(point))
        if p.axes_of(frame) == 0:
            return own
        return pt.mixed_add(p, own, pt.mixed_neg(pt.material_velocity(p, p.station(frame), p.station(point))))

    def angular_velocity(self, name: str) -> Mixed:
        """The angular velocity in N of a link or frame, in its own axes."""
        k = self.points.axes_of(name)
        return {k: self.points.axes[k].w}

    def axis(self, text: str) -> tuple[int, int]:
        """(axes, 0..2) of a printed basis vector."""
        frame, k = self.basis(text)
        return self.points.axes_of(frame), k

    def basis(self, text: str) -> tuple[str, Axis]:
        """(frame, 0..2) of a printed basis vector."""
        frame, dot, component = text.rpartition(".")
        axes: tuple[Axis, Axis, Axis] = (0, 1, 2)
        if dot and component in ("x", "y", "z"):
            return frame, axes["xyz".index(component)]
        for name in self.points.place:
            for k in axes:
                if label(name, k) == text:
                    return name, k
        raise UnknownNameError(f"There is no basis vector {text!r}.", name=text, remedy="Write n1, a2 or frame.x.")


def check_velocities(m: Measures) -> None:
    """Compare velocities given by hand with the derivative of the position.

    Raises InputError naming the first wrong one.
    """
    for item in m.points.mechanism.constraints:
        if isinstance(item, GivenVelocity):
            ours = m.relative_velocity(item.point, item.frame)
            gap = pt.mixed_add(m.points, ours, pt.mixed_neg(m.vector(item.vector)))
            if any(x > 1 for x in pt.gather(m.points, gap, 0)):
                raise InputError(
                    f"The velocity of {item.point!r} in {item.frame!r} is given as {item.vector}, "
                    "which is not the derivative of its position.",
                    name=item.point,
                    value=str(item.vector),
                    remedy="Leave it out, or correct the position or the velocity.",
                )
