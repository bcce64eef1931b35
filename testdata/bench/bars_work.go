package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// barCompress compresses sessions of three sizes, each time in a memory that has never done it.
func (b *bench) barCompress() ([]row, error) {
	var rows []row
	for _, mb := range []int64{1, 5, 20} {
		c, err := b.generated(mb*1e6, 1)
		if err != nil {
			return rows, err
		}
		if err := b.initStore(); err != nil {
			return rows, err
		}
		if err := b.addAll(c.files); err != nil {
			return rows, err
		}
		before := filepath.Join(b.tmp, "before")
		if err := b.copyStore(b.store(), before); err != nil {
			return rows, err
		}
		p := &probe{
			name: "mem compress", argv: []string{b.mem, "compress", sessionOf(c.files[0]), "--ratio", "10", "--json"},
			prep: func() error { return b.copyStore(before, b.store()) },
		}
		if err := b.interleave(p); err != nil {
			return rows, err
		}
		r := row{Bar: "compress", What: fmt.Sprintf("first `mem compress --ratio 10` of %d MB", mb), Unit: "ms", Value: p.median(), Detail: fmt.Sprintf("%v, peak %s", p, megabytes(p.rss))}
		if mb == 20 {
			r.Demand, r.Least = atMost(1000)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// barStore stores a session without looking at what is in it, between runs of zstd.
func (b *bench) barStore() ([]row, error) {
	return b.each(func(c corpus) ([]row, error) {
		zstd := zstdOf(c.files[0])
		alone := &probe{name: "store", prep: b.initStore, argv: []string{b.self, "worker", "store", c.files[0]}, keep: true}
		var took []float64
		for range b.runs {
			if err := b.round(zstd, alone); err != nil {
				return nil, err
			}
			ms, err := field(alone.stdout, `([0-9.]+) ms`)
			if err != nil {
				return nil, err
			}
			took = append(took, ms)
		}
		d, least := atMost(2)
		ms := middle(took)
		return []row{{
			Bar: "store", What: "the store alone (stream, pack and ref) / `zstd -3 -T1`", Corpus: c.name, Unit: "x", Demand: d, Least: least,
			Value: ms / zstd.median(), Detail: fmt.Sprintf("store %.1f ms, %v", ms, zstd),
		}}, nil
	})
}

// barRefine runs L1's own Go benchmark on one core.
func (b *bench) barRefine() ([]row, error) {
	return b.each(func(c corpus) ([]row, error) {
		test, err := b.testBinary("layers/refine")
		if err != nil {
			return nil, err
		}
		p := &probe{
			name: "refine", keep: true, dir: filepath.Join(b.root, "layers", "refine"), env: []string{"MEM_TRANSCRIPTS=" + c.dir, "GOMAXPROCS=1"},
			argv: []string{test, "-test.run", "^$", "-test.bench", "^BenchmarkRefine$", "-test.benchtime", "5x", "-test.cpu", "1"},
		}
		var speeds []float64
		for range b.runs {
			if err := b.run(p); err != nil {
				return nil, err
			}
			mb, err := field(p.stdout, `([0-9.]+) MB/s`)
			if err != nil {
				return nil, err
			}
			speeds = append(speeds, mb)
		}
		d, least := atLeast(200)
		return []row{{Bar: "refine", What: "L1 refine on one core", Corpus: c.name, Unit: "MB/s", Demand: d, Least: least, Value: middle(speeds)}}, nil
	})
}

// testBinary builds the tests of a package, which hold its benchmarks.
func (b *bench) testBinary(pkg string) (string, error) {
	bin := filepath.Join(b.tmp, filepath.Base(pkg)+".test")
	if _, err := os.Stat(bin); err == nil {
		return bin, nil
	}
	cmd := exec.Command("go", "test", "-c", "-o", bin, module+"/"+pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build tests of %s: %w\n%s", pkg, err, tail(string(out)))
	}
	return bin, nil
}

// field returns the number that the group of re matches in what a benchmark printed.
func field(out []byte, re string) (float64, error) {
	m := regexp.MustCompile(re).FindSubmatch(out)
	if m == nil {
		return 0, fmt.Errorf("the benchmark printed no %s:\n%s", re, tail(string(out)))
	}
	return strconv.ParseFloat(string(m[1]), 64)
}
