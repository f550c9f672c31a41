package main

import (
	"fmt"
	"sync"
	"time"

	harness "nth/bench/common/go"
)

// As in board.h.
type board struct{ all, columns, left, right uint32 }

func (b board) free() uint32 { return b.all &^ (b.columns | b.left | b.right) }

func (b board) put(free uint32) board {
	bit := free & -free
	return board{b.all, b.columns | bit, (b.left | bit) << 1, (b.right | bit) >> 1}
}

func solutions(b board) int {
	if b.columns == b.all {
		return 1
	}
	var found [16]int
	var children sync.WaitGroup
	tasks := 0
	for open := b.free(); open != 0; open &= open - 1 {
		children.Add(1)
		go func(child board, slot *int) {
			*slot = solutions(child)
			children.Done()
		}(b.put(open), &found[tasks])
		tasks++
	}
	children.Wait()
	sum := 0
	for _, n := range found[:tasks] {
		sum += n
	}
	return sum
}

type problem struct{ queens, solutions, placements int }

// As in workload.hpp.
var problems = []problem{{6, 4, 152}, {8, 92, 2056}, {10, 724, 35538}, {11, 2680, 166925}, {12, 14200, 856188},
	{13, 73712, 4674889}, {14, 365596, 27358552}}

func main() {
	p := harness.Parse("nqueens", 1000000)
	q := problems[0]
	for _, one := range problems {
		if one.placements <= p.N {
			q = one
		}
	}
	name := fmt.Sprintf("%d queens", q.queens)
	p.Measure(name, q.placements, func() time.Duration {
		begin := time.Now()
		found := solutions(board{all: 1<<q.queens - 1})
		took := time.Since(begin)
		if found != q.solutions {
			harness.Fail("%s: wrong answer", name)
		}
		return took
	}, nil)
}
