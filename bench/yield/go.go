package main

import (
	"runtime"
	"sync"
	"time"

	harness "nth/bench/common/go"
)

//go:noinline
func firstSite(n int) {
	for i := 0; i < n; i++ {
		runtime.Gosched()
	}
}

//go:noinline
func secondSite(n int) {
	for i := 0; i < n; i++ {
		runtime.Gosched()
	}
}

func main() {
	p := harness.Parse("yield", 2000000)
	threads := 2 * p.Workers
	each := p.N / threads
	if each == 0 {
		each = 1
	}
	one := func(variant string, partners [2]func(int)) {
		p.Measure(variant, each*threads, func() time.Duration {
			begin := time.Now()
			var all sync.WaitGroup
			all.Add(threads)
			for id := 0; id < threads; id++ {
				go func(id int) {
					partners[id%2](each)
					all.Done()
				}(id)
			}
			all.Wait()
			return time.Since(begin) * time.Duration(p.Workers)
		}, nil)
	}
	one("one call site", [2]func(int){firstSite, firstSite})
	one("two call sites", [2]func(int){firstSite, secondSite})
}
