"""Checks of derived equations: an independent witness, physical laws, and other libraries where installed."""
