"""Parameters from logs and measurements, and motions that show them; docs/identification.md is the tour.

tau = W x (torque_model.py) from logs in bounded memory (logs.py, factors.py, estimate.py), bodies that can exist
(consistent.py), exciting motions (excitation.py), readings of a robot taken apart (worksheet.py).  It uses regressors
and base parameters as derived, and knows neither simulation nor the report.
"""

from kane.identification.asked import Box, Search
from kane.identification.excitation import Excitation, exciting_motion
from kane.identification.identifier import IdentificationWarning, Identifier
from kane.identification.logs import Log, iter_log, read_log
from kane.identification.motion import FourierMotion, MotionLimits, motion_limits
from kane.identification.sweep import fit_log, fit_logs, predicted_log
from kane.identification.torque_model import TorqueModel, torque_model
from kane.identification.worksheet import Measurements, read_worksheet
from kane.identification.write_back import save_into, with_parameters

__all__ = [
    "Box",
    "Excitation",
    "FourierMotion",
    "IdentificationWarning",
    "Identifier",
    "Log",
    "Measurements",
    "MotionLimits",
    "Search",
    "TorqueModel",
    "exciting_motion",
    "fit_log",
    "fit_logs",
    "iter_log",
    "motion_limits",
    "predicted_log",
    "read_log",
    "read_worksheet",
    "save_into",
    "torque_model",
    "with_parameters",
]
