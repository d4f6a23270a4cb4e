"""What is described: links, joints, moves, loads, constraints, speeds.  Frozen data with exact scalars.

model.py, loads.py and constraints.py are the data; joints.py has the joint types; builder.py declares a mechanism by
frames and points; edit.py gives changed ones; checks.py, topology.py and inertia.py judge.  A description knows no file
format, no graph of equations and no velocity beyond what judging it takes (numeric.py).
"""
