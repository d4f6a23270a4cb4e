"""Tolerances of the tests, named once, with the reason."""

EXACT = 0.0
ROUNDING = 1e-11  # sums of some thousand double operations, relative to the size of the terms
ORACLE = 1e-9  # another library in double precision: backward error of forces and accelerations, poses, Jacobians
ORACLE_DERIVATIVE = 1e-8  # its first derivatives, relative to the largest element
DIFFERENCE = 1e-6  # central differences with step 1e-5: truncation and cancellation, relative
PRINTED = 5e-7  # half of the last of six printed decimals
