"""States and forces of a mechanism in the conventions of pinocchio, MuJoCo and Drake, and back.

floating joint      positions                   velocities                          forces
here                x y z, quaternion w x y z   angular, linear; body axes          torque, force; body axes
pinocchio           x y z, quaternion x y z w   linear, angular; body axes          force, torque; body axes
MuJoCo              x y z, quaternion w x y z   linear in world, angular in body    force in world, torque in body
Drake               quaternion w x y z, x y z   angular, linear; world axes         torque, force; world axes

pinocchio has cosine and sine of a continuous joint and velocities of a planar one in axes that turn with it; Drake has
roll, pitch and yaw of a ball joint, which is not converted.  Followers have places of their own in all three.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from kane.errors import ShapeError, UnknownNameError, UnsupportedError
from kane.kinematics.coordinates import Coordinates, find_coordinates
from kane.mechanism.given import Described, mechanism_of
from kane.mechanism.joints import joint_type
from kane.mechanism.model import Joint, Mechanism
from kane.verification.oracles import follow

Array = npt.NDArray[np.float64]
Library = Literal["pinocchio", "mujoco", "drake"]
_SIZES = {"floating": (7, 6), "spherical": (4, 3), "planar": (3, 3)}


@dataclass(frozen=True, slots=True)
class Interchange:
    """The way between a mechanism's arrays and a library's.

    order: names of the moving joints as the library has them (pinocchio: model.names[1:]; MuJoCo: model.joint(i).name;
    Drake: by velocity_start), where the free root joint of a library counts under the name it has here; the file's
    order by default.  Arrays may have batch axes in front.  Build it with `interchange`.
    """

    mechanism: Mechanism
    library: Library
    joints: tuple[Joint, ...]
    coordinates: Coordinates

    def positions(self, q: npt.ArrayLike) -> Array:
        """The library's positions of our q (..., nq)."""
        q = _rows(q, len(self.coordinates.names))
        return np.concatenate([self._position(joint, q) for joint in self.joints], axis=-1)

    def velocities(self, q: npt.ArrayLike, u: npt.ArrayLike) -> Array:
        """The library's velocities of our q (..., nq) and u (..., nu)."""
        q, u = _rows(q, len(self.coordinates.names)), _rows(u, len(self.coordinates.speeds))
        return np.concatenate([self._rates(joint, q, u, follows=True) for joint in self.joints], axis=-1)

    def forces(self, q: npt.ArrayLike, tau: npt.ArrayLike) -> Array:
        """The library's forces that do the work of our tau (..., nu); 0 on followers."""
        q, tau = _rows(q, len(self.coordinates.names)), _rows(tau, len(self.coordinates.speeds))
        return np.concatenate([self._rates(joint, q, tau, follows=False) for joint in self.joints], axis=-1)

    def own_positions(self, positions: npt.ArrayLike) -> Array:
        """Our q of the library's positions; those of followers are not looked at."""
        batch, parts = self._parts(positions, 0)
        q = np.zeros((*batch, len(self.coordinates.names)))
        for joint, part in parts:
            q[..., self._places(joint)] = self._own(joint, part)
        return q

    def own_velocities(self, positions: npt.ArrayLike, velocities: npt.ArrayLike) -> Array:
        """Our u of the library's positions and velocities."""
        return self._back(self.own_positions(positions), velocities)

    def own_forces(self, positions: npt.ArrayLike, forces: npt.ArrayLike) -> Array:
        """Our tau of the library's forces on joints that do not follow."""
        return self._back(self.own_positions(positions), forces)

    def _back(self, q: Array, values: npt.ArrayLike) -> Array:
        batch, parts = self._parts(values, 1)
        u = np.zeros((*batch, len(self.coordinates.speeds)))
        for joint, part in parts:
            u[..., self._speeds(joint)] = self._turned(joint, q, part, back=True)
        return u

    def _parts(self, values: npt.ArrayLike, which: int) -> tuple[tuple[int, ...], list[tuple[Joint, Array]]]:
        """Batch axes of the library's positions (which 0) or velocities (1), and each joint's part but followers'."""
        sizes = [self._sizes(joint)[which] for joint in self.joints]
        given = _rows(values, sum(sizes))
        parts = np.split(given, np.cumsum(sizes)[:-1].astype(int), axis=-1)
        pairs = zip(self.joints, parts, strict=False)  # no joints leave one empty part
        return given.shape[:-1], [(joint, part) for joint, part in pairs if joint.mimic is None]

    def _places(self, joint: Joint) -> list[int]:
        return [self.coordinates.names.index(name) for name in joint_type(joint).coordinates(joint)]

    def _speeds(self, joint: Joint) -> list[int]:
        return [self.coordinates.speeds.index(name) for name in joint_type(joint).speeds(joint)]

    def _sizes(self, joint: Joint) -> tuple[int, int]:
        """Positions and velocities of a joint in the library."""
        position, velocity = _SIZES.get(joint.type, (1, 1))
        wheel = self.library == "pinocchio" and joint.type in ("planar", "continuous")
        return position + wheel, velocity

    def _position(self, joint: Joint, q: Array) -> Array:
        if joint.mimic is not None:
            master, ratio, offset = follow(self.mechanism, joint)
            own = ratio * q[..., [self.coordinates.names.index(master)]] + offset
        else:
            own = q[..., self._places(joint)]
        if joint.type in ("floating", "spherical"):
            place, w, v = own[..., :-4], own[..., -4:-3], own[..., -3:]
            parts = {"pinocchio": (place, v, w), "mujoco": (place, w, v), "drake": (w, v, place)}[self.library]
            return np.concatenate(parts, axis=-1)
        if self.library == "pinocchio" and joint.type in ("planar", "continuous"):
            return np.concatenate([own[..., :-1], np.cos(own[..., -1:]), np.sin(own[..., -1:])], axis=-1)
        return own

    def _own(self, joint: Joint, part: Array) -> Array:
        if joint.type in ("floating", "spherical"):
            if self.library == "pinocchio":
                return np.concatenate([part[..., :-4], part[..., -1:], part[..., -4:-1]], axis=-1)
            return part if self.library == "mujoco" else np.concatenate([part[..., 4:], part[..., :4]], axis=-1)
        if self.library == "pinocchio" and joint.type in ("planar", "continuous"):
            return np.concatenate([part[..., :-2], np.arctan2(part[..., -1:], part[..., -2:-1])], axis=-1)
        return part

    def _rates(self, joint: Joint, q: Array, values: Array, follows: bool) -> Array:
        if joint.mimic is not None:
            master, ratio, _ = follow(self.mechanism, joint)
            return (ratio if follows else 0.0) * values[..., [self.coordinates.speeds.index(master)]]
        return self._turned(joint, q, values[..., self._speeds(joint)], back=False)

    def _turned(self, joint: Joint, q: Array, part: Array, back: bool) -> Array:
        """Velocities or forces of a joint, which are turned alike; back: from the library to ours."""
        if joint.type == "floating":
            R = _matrix(q[..., self._places(joint)[3:]])
            R = np.swapaxes(R, -1, -2) if back else R
            first, second = part[..., :3], part[..., 3:]
            if self.library == "drake":
                return np.concatenate([_apply(R, first), _apply(R, second)], axis=-1)
            linear: Callable[[Array], Array] = (lambda x: _apply(R, x)) if self.library == "mujoco" else (lambda x: x)
            return np.concatenate([second, linear(first)] if back else [linear(second), first], axis=-1)
        if joint.type == "planar" and self.library == "pinocchio":
            angle = q[..., self._places(joint)[2]]
            c, s = np.cos(angle), np.sin(angle) * (-1 if back else 1)
            x, y = part[..., 0], part[..., 1]
            return np.stack([c * x + s * y, c * y - s * x, part[..., 2]], axis=-1)
        return part


def interchange(mechanism: Described, library: Library, order: Sequence[str] = ()) -> Interchange:
    """The way between the arrays of a mechanism and those of a library; see Interchange.

    Raises UnknownNameError for an order of other joints, UnsupportedError for joints the library has otherwise.
    """
    mechanism = mechanism_of(mechanism)
    if library not in ("pinocchio", "mujoco", "drake"):
        remedy = "Use pinocchio, mujoco or drake."
        raise UnknownNameError(f"The library {library!r} is not known.", name=str(library), remedy=remedy)
    moving = {joint.name: joint for joint in mechanism.joints if joint_type(joint).coordinates(joint)}
    if order and sorted(order) != sorted(moving):
        strange = sorted(set(order) ^ set(moving)) or sorted(order)
        raise UnknownNameError(
            f"The order does not name every moving joint once: {', '.join(strange[:5])}.", name=strange[0],
            remedy=f"Name {', '.join(moving)}.",
        )  # fmt: skip
    joints = tuple(moving[name] for name in order) if order else tuple(moving.values())
    single = ("revolute", "continuous", "prismatic", "screw", "floating", "spherical", "planar")
    for joint in joints:
        if joint.type not in single or (joint.type == "spherical" and library == "drake"):
            raise UnsupportedError(
                f"joint {joint.name!r} of type {joint.type!r} is another one in {library}.", name=joint.name,
                remedy="Convert its coordinates by hand.",
            )  # fmt: skip
    return Interchange(mechanism, library, joints, find_coordinates(mechanism))


def _rows(values: npt.ArrayLike, size: int) -> Array:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0 or array.shape[-1] != size:
        message = f"The array has the shape {array.shape}, expected (..., {size})."
        raise ShapeError(message, value=array.shape, remedy=f"Give {size} numbers a state.")
    return array


def _apply(R: Array, x: Array) -> Array:
    result: Array = np.einsum("...ij,...j->...i", R, x)
    return result


def _matrix(quaternion: Array) -> Array:
    """Rotation matrices of unit quaternions w, x, y, z."""
    w, x, y, z = np.moveaxis(quaternion, -1, 0)
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
