"""Paper 003, section 3: equations 1 to 8 as printed, those that hold where these do not, and the one for nth.

doc/model.md has the derivations. Times are in any one unit, of one thread where they are not totals.
  n  threads            c  T_C + T_E, to create and to enqueue
  p  processors         e  T_L1 + T_S + T_W + T_T, from dispatch to the end
"""


def eq1_lookup(p, t_q):
    """T_L1: a thread is as likely in any of p queues, which are searched one after another."""
    return (p + 1) / 2 * t_q


def eq2_printed(n, p, c, e, t_l2):
    """T_P for fine grain, before what figure 1 tells of T_L2 is put in."""
    return n / (p - 1) * (c + e + t_l2) + (p - 1) * c


def eq3_printed(n, p, c):
    """Equation 2 with e + T_L2 = (p - 1) c."""
    return (n * p / (p - 1) + (p - 1)) * c


def eq3(n, p, c, e):
    """T_P for fine grain, e <= (p - 1) c: the wait for creation is T_L2 and is not counted once more."""
    return n * c + e


def eq4_k(n, c, e):
    """Threads that the first processor has run when all are created."""
    return (n - 1) * c / e


def eq5_printed(n, p, c, e):
    """T_P for coarse grain."""
    return (p * p - p + n - 1) / p * c + n / p * e


def eq5(n, p, c, e):
    """The same, e >= (p - 1) c, with the start of processor j at j c counted where it idles and nowhere else."""
    return (n * (c + e) + p * (p - 1) / 2 * c) / p


def eq6_create(p, q, t_q, t_cm, t_ci):
    """T_C where each of p recycling queues has a descriptor with probability q."""
    return q * p * (p + 1) / 2 * t_q + (1 - q * p) * (p * t_q + t_cm) + t_ci


def eq7_create(p, r, t_q, t_cm, t_ci):
    """Equation 6 with q = r / (p + 1)."""
    return ((2 - r) * p * p + (2 + r) * p) / (2 * (p + 1)) * t_q + (1 - p * r / (p + 1)) * t_cm + t_ci


def eq8_most(p):
    """The largest r: then a descriptor is always found."""
    return 1 + 1 / p


def paper(n, p, c, e):
    """What the paper predicts: equation 3 where threads are fine, 5 where they are coarse."""
    return eq3_printed(n, p, c) if e < (p - 1) * c else eq5_printed(n, p, c, e)


def corrected(n, p, c, e):
    """The same process with the corrected equations, which meet at e = (p - 1) c but for the start."""
    return max(eq3(n, p, c, e), eq5(n, p, c, e))


# ---- nth -------------------------------------------------------------------------------------------------

BLOCK = 64  # threads that go to another worker as one
PERIOD = 61  # dispatches after which ends are posted at the latest


def ours_idle(p, c, ask):
    """Processor time lost at the start: the p - 1 others wait for a whole block each, or until they are answered."""
    return (p - 1) * min(BLOCK * p * c, ask)


def ours(n, p, c_asked, c_alone, e, ask=0.0, post=0.0):
    """T_P of nth: the creator is the limit, or all work is spread, or the one count that all ends lower is."""
    if p == 1:
        return n * (c_alone + e)
    created = n * c_asked + e
    spread = (n * (c_alone + e) + ours_idle(p, c_alone, ask)) / p
    counted = n / PERIOD * post
    return max(created, spread, counted)
