package main

import (
	"flag"
	"sync"
	"sync/atomic"
	"time"

	harness "nth/bench/common/go"
)

// Sixteen counters, a line each, so that counting does not make two workers share one for every thread.
var runs [16]struct {
	n atomic.Int64
	_ [120]byte
}

//go:noinline
func root(a, b int) { runs[a%len(runs)].n.Add(1) }

func ran() (sum int64) {
	for i := range runs {
		sum += runs[i].n.Load()
	}
	return sum
}

func wave(count int) {
	var all sync.WaitGroup
	all.Add(count)
	for i := 0; i < count; i++ {
		go func(i int) {
			root(i, 0)
			all.Done()
		}(i)
	}
	all.Wait()
}

func main() {
	window := flag.Int("window", 0, "threads that are created before the master waits for them; 0: all n")
	p := harness.Parse("empty", 1000000)
	variant, step := "", p.N
	if *window > 0 {
		variant, step = "windows of "+flag.Lookup("window").Value.String(), *window
	}
	p.Measure(variant, p.N, func() time.Duration {
		before := ran()
		begin := time.Now()
		for left := p.N; left > 0; left -= step {
			wave(min(step, left))
		}
		took := time.Since(begin)
		if r := ran() - before; r != int64(p.N) {
			harness.Fail("empty: %d threads ran, not %d", r, p.N)
		}
		return took
	}, nil)
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}
