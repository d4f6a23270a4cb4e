"""Other libraries, called from Python on the same file; each is left out where it is not installed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Call = Callable[[], object]
Batch = Callable[[str, Sequence[np.ndarray[Any, Any]]], Callable[[], Any] | None]


@dataclass(frozen=True, slots=True)
class Peer:
    """A library: name, version, and calls without arguments by task name.

    batch: for a task and arrays (N, n) a call that gives the results of all N states, None for tasks it does not know.
    """

    name: str
    version: str
    calls: dict[str, Call]
    batch: Batch | None = None

    def call(self, task: str) -> Call | None:
        """One call of the library for a task at a random state; None when it has none."""
        return self.calls.get(task)


def installed_peers(path: str | Path, floating: bool = False) -> tuple[Peer, ...]:
    """The libraries that are there and can read the file."""
    from kane.benchmark.jax_peers import jax_peers

    made = (_pinocchio(path, floating), _mujoco(path, floating))
    return (*(p for p in made if p is not None), *jax_peers(path, floating))


def _pinocchio(path: str | Path, floating: bool) -> Peer | None:
    try:
        import pinocchio as pin
    except ImportError:
        return None
    root = (pin.JointModelFreeFlyer(),) if floating else ()
    try:
        model = pin.buildModelFromUrdf(str(path), *root)
    except (ValueError, RuntimeError):
        return None
    data = model.createData()
    rng = np.random.default_rng(0)
    q = pin.randomConfiguration(model, -np.ones(model.nq), np.ones(model.nq))
    v, a = rng.uniform(-1, 1, model.nv), rng.uniform(-1, 1, model.nv)
    calls: dict[str, Call] = {
        "inverse_dynamics": lambda: pin.rnea(model, data, q, v, a),
        "mass_matrix": lambda: pin.crba(model, data, q),
        "forward_dynamics": lambda: pin.aba(model, data, q, v, a),
        "inverse_dynamics_derivatives": lambda: pin.computeRNEADerivatives(model, data, q, v, a),
        "forward_dynamics_derivatives": lambda: pin.computeABADerivatives(model, data, q, v, a),
    }
    return Peer("pinocchio", str(pin.__version__), calls)


def _mujoco(path: str | Path, floating: bool) -> Peer | None:
    """mj_inverse and mj_forward with constraints off; a fixed base only (its URDF reader has no other)."""
    if floating:
        return None
    try:
        import mujoco

        from kane.verification.oracles import without_meshes
    except ImportError:
        return None
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
        model: Any = mujoco.MjModel.from_xml_string(without_meshes(text))
    except (ValueError, SyntaxError):
        return None
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data: Any = mujoco.MjData(model)
    rng = np.random.default_rng(0)
    data.qpos[:], data.qvel[:] = rng.uniform(-1, 1, model.nq), rng.uniform(-1, 1, model.nv)
    data.qacc[:] = rng.uniform(-1, 1, model.nv)
    calls: dict[str, Call] = {
        "inverse_dynamics": lambda: mujoco.mj_inverse(model, data),
        "forward_dynamics": lambda: mujoco.mj_forward(model, data),
    }
    return Peer("MuJoCo", str(mujoco.__version__), calls)
