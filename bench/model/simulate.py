"""The processes that the equations describe, thread by thread, to hold the equations against."""

import heapq
import math


def fork_join(n, p, c, e, block=1):
    """One creator makes a thread every c and joins the p - 1 others when all n are made; each thread takes e.

    A thread can be dispatched when the block that it goes in is full: thread i is for processor i mod p, and
    leaves with `block` of the same processor, or when the creator has made all.
    """
    free = [0.0] * (p - 1)  # when each processor is free; a heap
    joined = False
    last = 0.0
    for ready in sorted(visible_at(i, n, p, c, block) for i in range(n)):
        if not joined and (not free or free[0] > n * c):
            heapq.heappush(free, n * c)
            joined = True
        begin = max(free[0], ready)
        if not joined and begin >= n * c:  # the creator is free as well, and this one no sooner
            heapq.heappush(free, n * c)
            joined = True
        end = max(heapq.heappop(free), ready) + e
        heapq.heappush(free, end)
        last = max(last, end)
    return last


def visible_at(i, n, p, c, block):
    """When thread i, counted from 0, can be dispatched."""
    if block == 1:
        return (i + 1) * c
    round_of = i // p  # the block's members are those of so many rounds
    closes = (round_of // block * block + block - 1) * p + i % p
    return min((closes + 1) * c, n * c)


def as_printed(n, p, c, e):
    """Equation 2 read literally: each of p - 1 processors waits c for each thread, and then (p - 1) c until the
    next; the last one begins after (p - 1) c. n is a multiple of p - 1."""
    t_l2 = (p - 1) * c - e
    t = (p - 1) * c
    for _ in range(n // (p - 1)):
        t += c
        t += e
        t += t_l2
    return t


def search(p, r, t_q, t_cm, t_ci, random, times):
    """The mean of `times` creations: queues are looked at one after another; each is the one that has a
    descriptor with probability r / (p + 1), none is with what is left of 1."""
    q = r / (p + 1)
    total = 0.0
    for _ in range(times):
        at = math.floor(random.random() / q) if q > 0 else p
        cost = 0.0
        for queue in range(p):
            cost += t_q
            if queue == at:
                break
        else:
            cost += t_cm
        total += cost + t_ci
    return total / times
