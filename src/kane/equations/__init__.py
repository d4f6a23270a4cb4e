"""Kane's method, F_r + F_r* = 0: every task of a mechanism as expressions and programs.

Two ways in.  Trees: system.py, recursion.py, composite.py, forward.py, analytic.py, and the tasks by name in tasks/,
built by derive.py.  Any mechanism: projection.py on partial velocities, applied.py and elastic.py for what acts,
conditions.py and constrained.py for constraints, steps.py for the derivation on paper.  base_parameters.py finds what
torques depend on.  Nothing here knows a target language, machine code, or how few operations a search may reach.
"""
