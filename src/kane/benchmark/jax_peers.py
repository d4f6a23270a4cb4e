"""Libraries on JAX that compute batches: adam and MJX, on the CPU, in double precision; left out where not installed.

Fixed bases with joints of one degree of freedom.  Each is compiled by JAX for the batch before it is timed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from kane.benchmark.peers import Peer

Array = np.ndarray[Any, Any]
GRAVITY = (0.0, 0.0, -9.81)


def jax_peers(path: str | Path, floating: bool = False) -> tuple[Peer, ...]:
    """The libraries on JAX that are there and can read the URDF file."""
    if floating:
        return ()
    made = []
    for read in (_adam, _mjx):
        try:
            made.append(read(Path(path)))
        except Exception:  # not installed, or whatever a library raises at a file that is not for it
            continue
    return tuple(made)


def _adam(path: Path) -> Peer:
    """adam has no inverse dynamics with accelerations: M(q) qdd + h(q, qd), and qdd = M^-1 (tau - h)."""
    from importlib.metadata import version

    import jax.numpy as jnp

    adam, computations = import_module("adam"), import_module("adam.jax")
    names = [
        j.get("name") for j in ElementTree.parse(path).getroot().findall("joint")
        if j.get("type") in ("revolute", "continuous", "prismatic")
    ]  # fmt: skip
    with _double():
        model = computations.KinDynComputations(str(path), names, gravity=np.array([*GRAVITY, 0.0, 0.0, 0.0]))
    model.set_frame_velocity_representation(adam.Representations.BODY_FIXED_REPRESENTATION)

    def base(q: Any) -> tuple[Any, Any]:
        return jnp.tile(jnp.eye(4), (len(q), 1, 1)), jnp.zeros((len(q), 6))

    def mass(q: Any) -> Any:
        return model.mass_matrix(base(q)[0], q)[:, 6:, 6:]

    def bias(q: Any, v: Any) -> Any:
        place, speed = base(q)
        return model.bias_force(place, q, speed, v)[:, 6:]

    tasks: dict[str, Callable[..., Any]] = {
        "inverse_dynamics": lambda q, v, a: jnp.einsum("nij,nj->ni", mass(q), a) + bias(q, v),
        "mass_matrix": mass,
        "forward_dynamics": lambda q, v, t: jnp.linalg.solve(mass(q), (t - bias(q, v))[..., None])[..., 0],
    }
    return Peer("adam-JAX", version("adam-robotics"), {}, _compiled(tasks))


def _mjx(path: Path) -> Peer:
    """mjx.inverse and mjx.forward with constraints off, fixed links fused."""
    from importlib.metadata import version

    import jax
    import mujoco
    from mujoco import mjx

    from kane.verification.oracles import without_meshes

    text = without_meshes(path.read_text(encoding="utf-8", errors="replace"))
    spec: Any = mujoco.MjSpec.from_string(text)
    spec.compiler.fusestatic = True
    model: Any = spec.compile()
    model.opt.gravity[:] = GRAVITY
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    with _double():
        there = mjx.put_model(model)
        data = mjx.make_data(there)
    tasks = {
        "inverse_dynamics": lambda q, v, a: mjx.inverse(there, data.replace(qpos=q, qvel=v, qacc=a)).qfrc_inverse,
        "forward_dynamics": lambda q, v, t: mjx.forward(there, data.replace(qpos=q, qvel=v, qfrc_applied=t)).qacc,
    }
    return Peer("MJX", version("mujoco-mjx"), {}, _compiled({task: jax.vmap(f) for task, f in tasks.items()}))


def _double() -> Any:
    """Double precision within a block; the caller's setting stays as it is."""
    from jax.experimental import enable_x64

    return enable_x64()


def _compiled(tasks: Mapping[str, Callable[..., Any]]) -> Callable[[str, Sequence[Array]], Callable[[], Any] | None]:
    """For a task and arrays (N, n): a call that computes all states, with the arrays on the device before."""
    import jax

    def bound(task: str, arrays: Sequence[Array]) -> Callable[[], Any] | None:
        if task not in tasks:
            return None
        with _double():
            there = [jax.numpy.asarray(np.ascontiguousarray(a)) for a in arrays]
            run = jax.jit(tasks[task])

            def call() -> Any:
                with _double():
                    return jax.block_until_ready(run(*there))

            call()
        return call

    return bound
