package main

import (
	"fmt"
	"sync"
	"time"

	harness "nth/bench/common/go"
)

func fib(n int) int {
	if n < 2 {
		return n
	}
	var a int
	var left sync.WaitGroup
	left.Add(1)
	go func() {
		a = fib(n - 1)
		left.Done()
	}()
	b := fib(n - 2)
	left.Wait()
	return a + b
}

func number(n int) int {
	a, b := 0, 1
	for ; n > 0; n-- {
		a, b = b, a+b
	}
	return a
}

func main() {
	p := harness.Parse("fib", 3524577)
	n := 2
	for number(n+2)-1 <= p.N {
		n++
	}
	p.Measure(fmt.Sprintf("fib(%d)", n), number(n+1)-1, func() time.Duration {
		begin := time.Now()
		found := fib(n)
		took := time.Since(begin)
		if found != number(n) {
			harness.Fail("fib(%d): wrong answer", n)
		}
		return took
	}, nil)
}
