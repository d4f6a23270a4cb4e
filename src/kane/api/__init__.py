"""The facade: what users call.  Methods that reach across stages live here, so that the stages stay pure.

robot.py: Robot and load; equations.py: Equations; dynamics.py: compiled functions; explicit.py: the explicit model;
work.py and summary.py: what the commands say.  No mathematics here, and nothing printed: each method calls a stage.
"""
