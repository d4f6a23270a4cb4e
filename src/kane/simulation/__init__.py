"""Simulation: compiled loops, constraints, inputs, events, controllers, pictures.  `simulate` is where to start.

model.py and declared.py make one compiled rate of a mechanism; driver.py, fixed.py, batch.py and sundials.py integrate
it; run.py joins segments, events and inputs into a result.py.  It takes equations as they are derived, changes none,
and knows neither the report nor the command line.
"""

from __future__ import annotations

from kane.simulation.batch import BatchResult, simulate_batch
from kane.simulation.contacts import Contact, rigid_stop
from kane.simulation.controllers import (
    computed_torque,
    drive,
    gravity_compensation,
    operational_space,
    pd,
    prescribed_torques,
    spline,
)
from kane.simulation.events import Event
from kane.simulation.files import load_run
from kane.simulation.fixed import Stepper
from kane.simulation.inputs import Controller, Profile
from kane.simulation.model import Model, prepare
from kane.simulation.result import SimulationResult
from kane.simulation.simulate import simulate

__all__ = [
    "BatchResult",
    "Contact",
    "Controller",
    "Event",
    "Model",
    "Profile",
    "SimulationResult",
    "Stepper",
    "computed_torque",
    "drive",
    "gravity_compensation",
    "load_run",
    "operational_space",
    "pd",
    "prepare",
    "prescribed_torques",
    "rigid_stop",
    "simulate",
    "simulate_batch",
    "spline",
]
