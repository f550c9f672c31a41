"""Random C programs whose functions can be run each on a painted stack.

The calls go from lower to higher numbers, so that a program ends, but for recursions, which count down. What a
function calls depends on its argument; run with enough arguments, most paths are taken.
"""
import random


class Program:
    """seed: decides everything; functions: how many; recursion, pointers: whether there are any."""

    def __init__(self, seed, functions=24, recursion=False, pointers=True):
        self.rng = random.Random(seed)
        self.functions = functions
        self.recursion = recursion
        self.pointers = pointers
        self.shapes = [self.rng.choice(["words", "many", "double", "structure", "wide"]) for _ in range(functions)]
        self.recursive = set()

    PARAMETERS = {
        "words": "long x",
        "many": "long x, long a, long b, long c, long d, long e, long f, long g, long h",
        "double": "long x, double y",
        "structure": "long x, struct block s",
        "wide": "long x, long double y, ...",
    }
    ARGUMENTS = {
        "words": "{0}",
        "many": "{0}, 1, 2, 3, 4, 5, 6, 7, 8",
        "double": "{0}, 0.5",
        "structure": "{0}, some",
        "wide": "{0}, 1.5L, 2, 3.0",
    }

    def call(self, callee, argument):
        return f"f{callee}({self.ARGUMENTS[self.shapes[callee]].format(argument)})"

    def pick_callees(self, i, most):
        later = range(i + 1, min(i + 9, self.functions))
        return self.rng.sample(list(later), min(len(later), self.rng.randint(0, most)))

    def body(self, i):
        rng, lines = self.rng, []
        if rng.random() < 0.7:
            size = rng.choice([1, 8, 24, 40, 100, 128, 129, 500, 4000, 9000])
            lines.append(f"  volatile char room[{size}];")
            lines.append(f"  for (unsigned i = 0; i < sizeof room; ++i) room[i] = (char)x;")
        if rng.random() < 0.1:
            lines.append(f"  _Alignas({rng.choice([32, 64, 128])}) volatile char aligned[{rng.choice([32, 200])}];")
            lines.append("  aligned[0] = (char)x;")
        if rng.random() < 0.1:
            lines.append(f"  volatile char *fixed = __builtin_alloca({rng.choice([16, 100])}); fixed[0] = 1;")
        lines.append("  long sum = x;")
        for callee in self.pick_callees(i, 3):
            call = self.call(callee, "sum & 15")
            form = rng.choice(["plain", "branch", "loop", "switch", "pointer", "cold"])
            if form == "branch":
                lines.append(f"  if (x & {1 << rng.randint(0, 3)}) sum += {call};")
            elif form == "loop":
                lines.append(f"  for (int i = 0; i < (x & 1) + 1; ++i) sum += {call};")
            elif form == "switch":
                cases = "".join(f" case {k}: sum += {self.call(callee, k)}; break;" if k % 3 == 0 else
                                f" case {k}: sum ^= {rng.randint(1, 1 << 20)}; break;" for k in range(8))
                lines.append(f"  switch (x & 7) {{{cases} default: break; }}")
            elif form == "pointer" and self.pointers and self.shapes[callee] == "words":
                lines.append(rng.choice([
                    f"  {{ static long (*const table[2])(long) = {{f{callee}, f{callee}}}; sum += table[x & 1](3); }}",
                    f"  {{ long (*volatile p)(long) = f{callee}; sum += p(sum & 15); }}",
                    f"  sum += through(f{callee}, sum & 15);"]))
            elif form == "cold":
                lines.append(f"  if (__builtin_expect(x == 11, 0)) sum -= {call};")
            else:
                lines.append(f"  sum += {call};")
        if self.recursion and rng.random() < 0.25:
            self.recursive.add(i)
            lines.append(f"  if (x > 16) sum += {self.call(i, 'x - 1')};")
        last = self.pick_callees(i, 1)
        if last and rng.random() < 0.4:
            lines.append(f"  return {self.call(last[0], '(x + 1) & 15')};")
        else:
            lines.append("  return sum;")
        return lines

    def text(self):
        lines = ['#include "paint.h"', "struct block { long words[9]; };", "struct block some;",
                 "long through(long (*p)(long), long x) { return p(x) + 1; }"]
        for i, shape in enumerate(self.shapes):
            inline = "noinline" if self.rng.random() < 0.8 else "unused"
            static = "static " if self.rng.random() < 0.3 else ""
            lines.append(f"{static}long f{i}({self.PARAMETERS[shape]}) __attribute__(({inline}));")
        for i, shape in enumerate(self.shapes):
            lines.append(f"long f{i}({self.PARAMETERS[shape]}) {{")
            lines += self.body(i)
            lines.append("}")
        roots = range(self.functions)
        # Each root is a function of its own without arguments, so that nothing but it lies on the stack.
        most = 60 if self.recursion else 15
        lines.append("long root_argument;")
        for i in roots:
            lines.append(f"__attribute__((noinline)) void root{i}(void) "
                         f"{{ volatile long r = {self.call(i, 'root_argument')}; (void)r; }}")
        lines.append("int main(void) {")
        for i in roots:
            lines.append(f'  measure("root{i}", root{i}, &root_argument, {most});')
        lines.append("  return 0;\n}")
        return "\n".join(lines) + "\n"
