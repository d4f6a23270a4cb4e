"""Positions, velocities and accelerations of a mechanism in one graph: steps 1 to 5 of Kane's method.

coordinates.py and speeds.py give the symbols and qdot = f(q, u, t); tree.py and motion.py walk a tree frame by frame,
in each frame's own axes; walk.py, points.py and measures.py serve any frame and any point.  No inertia and no force:
those are the equations' business.
"""
