"""The control block of the loops: what each slot of 8 bytes holds, sizes, and how a call ends."""

LANES = 8
SAFETY, SHRINK, GROW = 0.9, 0.2, 8.0
DONE, FULL, UNDERFLOW, NOT_FINITE, PROJECTION = range(5)  # how a call of the loop ends
STAGES = 12
ROWS = 16  # stages, the slope at the end, and three more for dense output
DENSE = 7

# slots of the control block: doubles, then 64-bit integers
T, H, T_END, RTOL, MAX_STEP, SIZE, H_SMALL = range(7)
PADDED, CHUNKS, LINES, COLUMNS, STRIDE, CAPACITY, COUNT, NFEV, REJECTED, WANT_DENSE, QUATERNIONS, FRESH, EVERY = range(
    8, 21
)
PIVOT_AT, PIVOT, PIVOT_1, PIVOT_2, T_1, T_2, CROSSING = range(
    21, 28
)  # address of the smallest pivot of the constraints, or 0
CONTROL = 32
