"""Equations about an operating point or a steady motion, exact, constraints included.

trim.py finds the point, operating.py the Jacobians there, linear.py the state equations x' = A x + B f, symbolic.py
the same as formulas.  This folder knows Kane's equations and their derivatives; nothing of integrators or targets.
"""
