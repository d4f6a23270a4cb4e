"""What real joints add: friction, transmissions with rotors, backlash, clearance, stops.

Each function gives loads for a place (place.py): a pair of torques or forces, or a generalized force.  To add an
element, write a function from a place and numbers to a tuple of loads; nothing else has to know of it.
"""
