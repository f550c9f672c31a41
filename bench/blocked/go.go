package main

import (
	"sync"
	"time"

	harness "nth/bench/common/go"
)

func main() {
	p := harness.ParseFew("blocked", 1000000, 3, 1)
	var resident, tables int64
	var maps int
	var release []float64
	seen := false

	p.Measure("", p.N, func() time.Duration {
		gate := make(chan struct{})
		var toBlock, toEnd sync.WaitGroup
		toBlock.Add(p.N)
		toEnd.Add(p.N)
		if !seen {
			resident, tables = harness.ResidentBytes(), harness.PageTableBytes()
		}
		begin := time.Now()
		for i := 0; i < p.N; i++ {
			go func() {
				toBlock.Done()
				<-gate
				toEnd.Done()
			}()
		}
		toBlock.Wait()
		took := time.Since(begin)
		if !seen {
			resident = harness.ResidentBytes() - resident
			tables = harness.PageTableBytes() - tables
			maps, seen = harness.Mappings(), true
		}
		begin = time.Now()
		close(gate)
		toEnd.Wait()
		release = append(release, float64(time.Since(begin).Nanoseconds())/float64(p.N))
		return took
	}, func() []harness.Count {
		return []harness.Count{{"resident_bytes_a_thread", float64(resident) / float64(p.N)},
			{"page_table_bytes_a_thread", float64(tables) / float64(p.N)},
			{"mappings", maps}, {"release_ns", harness.Median(release)}}
	})
}
