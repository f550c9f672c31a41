package main

import (
	"sync"
	"time"

	harness "nth/bench/common/go"
)

var runs int

// Not atomic: one goroutine at a time runs it, and each is waited for.
//
//go:noinline
func root(a, b int) { runs++ }

func main() {
	p := harness.Parse("create_join", 500000)
	p.Measure("", p.N, func() time.Duration {
		before := runs
		begin := time.Now()
		for i := 0; i < p.N; i++ {
			var one sync.WaitGroup
			one.Add(1)
			go func(i int) {
				root(i, 0)
				one.Done()
			}(i)
			one.Wait()
		}
		took := time.Since(begin)
		if runs-before != p.N {
			harness.Fail("create_join: %d threads ran, not %d", runs-before, p.N)
		}
		return took
	}, nil)
}
