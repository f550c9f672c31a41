// Package harness gives the Go programs the options and the output of common/harness.hpp.
package harness

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"sort"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

type Program struct {
	Workload                   string
	Workers, N, Repeat, Warmup int
	Seconds                    float64
	JSON                       bool
	cores                      []int
}

type Count struct {
	Name  string
	Value any
}

// The mask is narrowed before the run-time starts further kernel threads: on the way to a second exec.
const coresVariable = "NTH_BENCH_GO_CORES"

type mask [128]byte

func setAffinity(m *mask) {
	syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(*m), uintptr(unsafe.Pointer(m)))
}

func usableCores() (cores []int) {
	var m mask
	syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(m), uintptr(unsafe.Pointer(&m)))
	for c := 0; c < len(m)*8; c++ {
		if m[c/8]&(1<<(c%8)) != 0 {
			cores = append(cores, c)
		}
	}
	return cores
}

func (p *Program) confine() {
	p.cores = usableCores()
	if _, again := os.LookupEnv(coresVariable); again || len(p.cores) <= p.Workers {
		return
	}
	var m mask
	for _, c := range p.cores[:p.Workers] {
		m[c/8] |= 1 << (c % 8)
	}
	runtime.LockOSThread()
	setAffinity(&m)
	if exe, err := os.Executable(); err == nil {
		syscall.Exec(exe, os.Args, append(os.Environ(), coresVariable+"=1"))
	}
}

// Parse reads the options; programs add their own to package flag before.
func Parse(workload string, n int) *Program { return ParseFew(workload, n, 9, 2) }

// ParseFew is Parse with other defaults for the repetitions.
func ParseFew(workload string, n, repeat, warmup int) *Program {
	p := &Program{Workload: workload}
	flag.IntVar(&p.Workers, "workers", 1, "kernel threads that run goroutines")
	flag.IntVar(&p.N, "n", n, "operations a repetition")
	flag.IntVar(&p.Repeat, "repeat", repeat, "repetitions that count")
	flag.IntVar(&p.Warmup, "warmup", warmup, "repetitions before them that do not")
	flag.Float64Var(&p.Seconds, "seconds", 10, "no further repetition past these, once three have counted")
	flag.BoolVar(&p.JSON, "json", false, "print one JSON object a line")
	quick := flag.Bool("quick", false, "a tenth of the operations")
	flag.Parse()
	if *quick && p.N >= 10 {
		p.N /= 10
	}
	p.confine()
	runtime.GOMAXPROCS(p.Workers)
	return p
}

func Fail(format string, a ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", a...)
	os.Exit(1)
}

func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	s := append([]float64(nil), values...)
	sort.Float64s(s)
	if h := len(s) / 2; len(s)%2 == 0 {
		return (s[h-1] + s[h]) / 2
	} else {
		return s[h]
	}
}

func ResidentBytes() int64 {
	var size, resident int64
	text, _ := os.ReadFile("/proc/self/statm")
	fmt.Sscan(string(text), &size, &resident)
	return resident * int64(os.Getpagesize())
}

func PageTableBytes() int64 {
	text, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(text), "\n") {
		var kib int64
		if k, _ := fmt.Sscanf(line, "VmPTE: %d kB", &kib); k == 1 {
			return kib * 1024
		}
	}
	return 0
}

func Mappings() int {
	text, _ := os.ReadFile("/proc/self/maps")
	return strings.Count(string(text), "\n")
}

// A goroutine that ends while it is locked takes its kernel thread, and so the pin, with it.
func pinned(core int, body func()) {
	runtime.LockOSThread()
	var m mask
	m[core/8] |= 1 << (core % 8)
	setAffinity(&m)
	body()
}

// ping is one_way_ping of common/ping.cpp.
func ping(a, b int) float64 {
	const trips, blocks = 500, 24
	var line struct {
		_    [128]byte
		turn atomic.Int32
		_    [128]byte
	}
	found := make(chan []float64)
	go pinned(b, func() {
		for {
			if t := line.turn.Load(); t < 0 {
				return
			} else if t == 1 {
				line.turn.Store(0)
			}
		}
	})
	go pinned(a, func() {
		var s []float64
		begin := time.Now()
		for i := 0; i < blocks && time.Since(begin) < 20*time.Millisecond; i++ {
			from := time.Now()
			for k := 0; k < trips; k++ {
				line.turn.Store(1)
				for line.turn.Load() != 0 {
				}
			}
			s = append(s, float64(time.Since(from).Nanoseconds())/(2*trips))
		}
		line.turn.Store(-1)
		found <- s
	})
	return Median(<-found)
}

// Measure repeats body, which does n operations and returns the time they took, and prints the result
// with the counts that `counts` gives afterwards.
func (p *Program) Measure(variant string, n int, body func() time.Duration, counts func() []Count) {
	one := func() float64 { return float64(body().Nanoseconds()) / float64(n) }
	var samples, pings []float64
	var cold float64
	begin := time.Now()
	up := func() bool { return time.Since(begin).Seconds() > p.Seconds }
	for i := 0; i < p.Warmup && (i == 0 || !up()); i++ {
		if ns := one(); i == 0 {
			cold = ns
		}
	}
	for i := 0; i < p.Repeat && (i < 3 || !up()); i++ {
		if p.Workers == 2 && len(p.cores) >= 2 {
			pings = append(pings, math.Round(ping(p.cores[0], p.cores[1])*10)/10)
		}
		samples = append(samples, one())
	}
	all := []Count{{"rss_bytes", ResidentBytes()}}
	if counts != nil {
		all = append(all, counts()...)
	}
	p.report(variant, n, cold, samples, pings, all)
}

func (p *Program) report(variant string, n int, cold float64, samples, pings []float64, counts []Count) {
	low, high := samples[0], samples[0]
	for _, s := range samples {
		low, high = math.Min(low, s), math.Max(high, s)
	}
	if !p.JSON {
		fmt.Printf("%-12s %-14s %-22s %d workers, n %-9d %10.2f ns (%.2f to %.2f; cold %.2f)", p.Workload, "go", variant,
			p.Workers, n, Median(samples), low, high, cold)
		if len(pings) > 0 {
			fmt.Printf(" ping %.0f ns", Median(pings))
		}
		for _, c := range counts {
			fmt.Printf(", %s %v", c.Name, c.Value)
		}
		fmt.Println()
		return
	}
	round := func(v float64) float64 { return math.Round(v*1000) / 1000 }
	fields := []Count{{"workload", p.Workload}, {"competitor", "go"}, {"variant", variant}, {"workers", p.Workers},
		{"n", n}, {"ns_per_op", Median(samples)}, {"min", low}, {"max", high},
		{"repetitions", len(samples)}, {"cold_ns", cold}}
	fields = append(fields, counts...)
	if p.Workers == 2 {
		fields = append(fields, Count{"ping_ns", append([]float64{}, pings...)})
	}
	parts := make([]string, len(fields))
	for i, f := range fields {
		if real, is := f.Value.(float64); is {
			f.Value = round(real)
		}
		v, _ := json.Marshal(f.Value)
		parts[i] = fmt.Sprintf("%q:%s", f.Name, v)
	}
	fmt.Printf("{%s}\n", strings.Join(parts, ","))
}
