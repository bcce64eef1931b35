package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A probe is one command that is measured again and again, and what was measured.
type probe struct {
	name   string
	prep   func() error // makes the state the command starts from; not measured
	argv   []string
	dir    string // working directory
	env    []string
	in     string // file that is standard input; "" is none
	out    string // file that gets standard output; "" throws it away
	wall   []time.Duration
	cpu    []time.Duration // user and system time
	rss    int64           // the largest resident set of all runs, in bytes
	stdout []byte
	keep   bool // keep standard output in stdout
}

// interleave runs every probe once a round, in order, so that a change of the machine's speed
// meets all of them alike.
func (b *bench) interleave(probes ...*probe) error {
	for range b.runs {
		if err := b.round(probes...); err != nil {
			return err
		}
	}
	return nil
}

// round runs every probe once.
func (b *bench) round(probes ...*probe) error {
	for _, p := range probes {
		if err := b.run(p); err != nil {
			return err
		}
	}
	return nil
}

// run runs p once. Dirty pages that p did not make are written out first, or the first command that
// syncs would pay for them.
func (b *bench) run(p *probe) error {
	if p.prep != nil {
		if err := p.prep(); err != nil {
			return fmt.Errorf("prepare %s: %w", p.name, err)
		}
	}
	syscall.Sync()
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Dir = cmp.Or(p.dir, b.tmp)
	cmd.Env = append(b.environ(), p.env...)
	errs, err := os.Create(filepath.Join(b.tmp, "stderr")) // a file: who read a pipe would run beside the program
	if err != nil {
		return err
	}
	defer errs.Close()
	cmd.Stderr = errs
	var out bytes.Buffer
	if p.keep {
		cmd.Stdout = &out
	}
	if p.in != "" {
		f, err := os.Open(p.in)
		if err != nil {
			return err
		}
		defer f.Close()
		cmd.Stdin = f
	}
	if p.out != "" {
		f, err := os.Create(p.out)
		if err != nil {
			return err
		}
		defer f.Close()
		cmd.Stdout = f
	}
	start := time.Now()
	err = cmd.Run()
	p.wall = append(p.wall, time.Since(start))
	if state := cmd.ProcessState; state != nil {
		if u, ok := state.SysUsage().(*syscall.Rusage); ok {
			p.rss = max(p.rss, int64(u.Maxrss)*1024)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %s: %w\n%s", p.name, strings.Join(p.argv, " "), err, tail(b.complaint()))
	}
	p.cpu = append(p.cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	p.stdout = out.Bytes()
	return nil
}

// complaint returns what the last command wrote to stderr.
func (b *bench) complaint() string {
	text, err := os.ReadFile(filepath.Join(b.tmp, "stderr"))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// once runs one command outside the rounds.
func (b *bench) once(argv ...string) error { return b.run(&probe{name: argv[0], argv: argv}) }

// output runs one command and returns what it prints.
func (b *bench) output(argv ...string) ([]byte, error) {
	p := &probe{name: argv[0], argv: argv, keep: true}
	err := b.run(p)
	return p.stdout, err
}

// median returns the middle of the times that were measured, in milliseconds.
func (p *probe) median() float64 { return middle(milliseconds(p.wall)) }

// String names p with its times.
func (p *probe) String() string {
	return fmt.Sprintf("%s %.1f ms (cpu %.1f)", p.name, p.median(), middle(milliseconds(p.cpu)))
}

func milliseconds(times []time.Duration) []float64 {
	ms := make([]float64, len(times))
	for i, d := range times {
		ms[i] = float64(d) / float64(time.Millisecond)
	}
	return ms
}

// middle returns the median of v, 0 if it is empty.
func middle(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	switch n := len(v); {
	case n == 0:
		return 0
	case n%2 == 0:
		return (v[n/2-1] + v[n/2]) / 2
	default:
		return v[n/2]
	}
}

// tail returns the last few lines of what a command complained about.
func tail(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}

// fresh empties dir, which must lie in the benchmark's own directory.
func (b *bench) fresh(dir string) error {
	if !strings.HasPrefix(dir, b.tmp+"/") {
		return fmt.Errorf("%s is not in %s", dir, b.tmp)
	}
	return errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700))
}

// copyFile copies the first n bytes of src to dst; n < 0 copies all.
func copyFile(dst, src string, n int64) error {
	in, err := os.Open(src)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(dst)
	if err != nil {
		return err
	}
	var r io.Reader = in
	if n >= 0 {
		r = io.LimitReader(in, n)
	}
	_, err = io.Copy(out, r)
	return errors.Join(err, out.Close())
}
