"""What "Heaps o' Stacks" prints: table 2, and what section 5.1 says beside it."""

# threads: context switches, instructions a switch, then for 64 KiB and for small stacks: load misses in percent of
# loads, TLB misses, and these in percent.
TABLE_2 = {
    "sor": {4: (8004, 8980764, (2.92, 41, 0.00), (2.92, 28, 0.00)),
            64: (128064, 582163, (3.89, 162709, 0.06), (3.97, 25323, 0.01)),
            128: (2049024, 51854, (9.75, 2178450, 0.47), (10.69, 380695, 0.08))},
    "mp3d": {4: (18320, 347958, (10.84, 14840, 0.06), (9.43, 4874, 0.02)),
             64: (230228, 55187, (9.75, 209423, 0.35), (10.13, 16783, 0.03)),
             128: (454302, 42710, (10.94, 437453, 0.48), (11.18, 67335, 0.07))},
    "ocean": {4: (4329, 18536623, (12.87, 2980601, 1.55), (12.87, 2979534, 1.55)),
              64: (69045, 1205854, (13.02, 449258, 0.22), (13.02, 415494, 0.21)),
              128: (138042, 620358, (13.18, 409637, 0.19), (13.16, 340244, 0.16))},
}

NAMES = {"sor": "RB", "mp3d": "MP3D", "ocean": "OCEAN"}

# Bytes of stack for a thread; the second with room for the routines of the instrumentation.
STACK = {"sor": (384, 1200), "mp3d": (384, 1200), "ocean": (2256, 3072)}

# "modeled a memory system similar to that of the Alpha AXP 21064"
CACHE = "alpha:8K:1:32:no-write-allocate"
TLB = "alpha:32:full:8K"
