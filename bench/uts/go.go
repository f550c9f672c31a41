package main

import (
	"crypto/sha1"
	"encoding/binary"
	"math"
	"sync"
	"time"

	harness "nth/bench/common/go"
)

// As in tree.h, tree.c and workload.hpp.
type tree struct {
	name          string
	binomial      bool
	rootChildren  float64
	deepest       int
	q             float64
	children      int
	seed          uint32
	nodes, leaves int
	depth         int
}

var trees = []tree{
	{"T1", false, 4, 10, 0, 0, 19, 4130071, 3305118, 10},
	{"T3", true, 2000, 0, 0.124875, 8, 42, 4112897, 3599034, 1572},
	{"T1 to depth 8", false, 4, 8, 0, 0, 19, 257042, 205878, 8},
	{"T3 with q 0.1235", true, 2000, 0, 0.1235, 8, 42, 391273, 342613, 333},
}

const mostChildren = 100

type node struct {
	tree  *tree
	depth int
	state [sha1.Size]byte
}

func (t *tree) root() node {
	var seed [sha1.Size]byte
	binary.BigEndian.PutUint32(seed[16:], t.seed)
	return node{t, 0, sha1.Sum(seed[:])}
}

func (n *node) child(i int) node {
	var bytes [sha1.Size + 4]byte
	copy(bytes[:], n.state[:])
	binary.BigEndian.PutUint32(bytes[sha1.Size:], uint32(i))
	return node{n.tree, n.depth + 1, sha1.Sum(bytes[:])}
}

func (n *node) children() int {
	t := n.tree
	uniform := float64(binary.BigEndian.Uint32(n.state[16:])&0x7fffffff) / 2147483648
	if t.binomial {
		switch {
		case n.depth == 0:
			return int(t.rootChildren)
		case uniform < t.q:
			return t.children
		}
		return 0
	}
	if n.depth >= t.deepest {
		return 0
	}
	p := 1 / (1 + t.rootChildren)
	return min(mostChildren, int(math.Log(1-uniform)/math.Log(1-p)))
}

type count struct{ nodes, leaves, depth int }

func visit(n node) count {
	children := n.children()
	if children == 0 {
		return count{1, 1, n.depth}
	}
	below := make([]count, children)
	var tasks sync.WaitGroup
	tasks.Add(children)
	for i := range below {
		go func() {
			below[i] = visit(n.child(i))
			tasks.Done()
		}()
	}
	tasks.Wait()
	sum := count{1, 0, n.depth}
	for _, c := range below {
		sum.nodes += c.nodes
		sum.leaves += c.leaves
		sum.depth = max(sum.depth, c.depth)
	}
	return sum
}

func main() {
	p := harness.Parse("uts", 4200000)
	for i := range trees {
		t := &trees[i]
		if t.nodes > p.N || t.nodes <= p.N/10 {
			continue
		}
		p.Measure(t.name, t.nodes, func() time.Duration {
			begin := time.Now()
			found := visit(t.root())
			took := time.Since(begin)
			if found != (count{t.nodes, t.leaves, t.depth}) {
				harness.Fail("%s: wrong answer", t.name)
			}
			return took
		}, nil)
	}
}
