package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptrace"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A site is a running "mem serve" with a browser that is signed in.
type site struct {
	base   string
	client *http.Client
	cmd    *exec.Cmd
}

// serveSite starts "mem serve" on the benchmark's memory.
func (b *bench) serveSite() (*site, error) {
	cmd := exec.Command(b.mem, "serve", "--json")
	cmd.Dir, cmd.Env = b.tmp, b.environ()
	errs, err := os.Create(filepath.Join(b.tmp, "serve.stderr"))
	if err != nil {
		return nil, err
	}
	defer errs.Close()
	cmd.Stderr = errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	var said struct{ Address string }
	if err = errors.Join(err, json.Unmarshal([]byte(line), &said)); err != nil {
		return nil, errors.Join(fmt.Errorf("mem serve says %q: %w", line, err), cmd.Process.Kill(), cmd.Wait())
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	base, _, _ := strings.Cut(said.Address, "/?")
	s := &site{base: base, client: &http.Client{Jar: jar, Transport: &http.Transport{MaxIdleConnsPerHost: 100}}, cmd: cmd}
	res, err := s.client.Get(said.Address)
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, res.Body.Close()
}

// stop ends the server as Ctrl-C does.
func (s *site) stop() error {
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return s.cmd.Wait()
}

// get reads a page. An htmx request names the part of it.
func (s *site) get(path string) (body []byte, first time.Duration, err error) {
	req, err := http.NewRequest(http.MethodGet, s.base+path, nil)
	if err != nil {
		return nil, 0, err
	}
	if strings.Contains(path, "part=") {
		req.Header.Set("HX-Request", "true")
	}
	start := time.Now()
	trace := &httptrace.ClientTrace{GotFirstResponseByte: func() { first = time.Since(start) }}
	res, err := s.client.Do(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	if err != nil {
		return nil, 0, err
	}
	defer res.Body.Close()
	body, err = io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %d %.300s", path, res.StatusCode, body)
	}
	return body, first, err
}

// api reads an answer of the API.
func (s *site) api(path string, v any) error {
	body, _, err := s.get("/api/memory" + path)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, v)
}

// A pace is how fast pages came: the time to the first byte, and the processor time of the server for each.
type pace struct {
	pages int
	first []time.Duration
	cpu   time.Duration
	most  int // bytes of the largest page
}

// measure reads each page once to warm up, and then all of them again in turn until there were n.
func (s *site) measure(paths []string, n int) (pace, error) {
	if len(paths) == 0 {
		return pace{}, errors.New("there is no page of this kind")
	}
	for _, p := range paths {
		if _, _, err := s.get(p); err != nil {
			return pace{}, err
		}
	}
	before, err := s.cpu()
	if err != nil {
		return pace{}, err
	}
	out := pace{pages: len(paths)}
	for i := range n {
		body, first, err := s.get(paths[i%len(paths)])
		if err != nil {
			return out, err
		}
		out.first, out.most = append(out.first, first), max(out.most, len(body))
	}
	after, err := s.cpu()
	out.cpu = (after - before) / time.Duration(n)
	return out, err
}

// p95 is in milliseconds.
func (p pace) p95() float64 {
	all := slices.Sorted(slices.Values(p.first))
	return float64(all[min(len(all)-1, len(all)*95/100)]) / float64(time.Millisecond)
}

func (p pace) String() string {
	return fmt.Sprintf("p50 %.1f ms, %.1f ms of the processor each, %d pages of at most %d kB",
		middle(milliseconds(p.first)), float64(p.cpu)/float64(time.Millisecond), p.pages, p.most/1000)
}

// cpu returns the processor time that the server has taken.
func (s *site) cpu() (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(b, []byte(") ")) // the name may have spaces
	fields := strings.Fields(string(rest))
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat: %d fields", s.cmd.Process.Pid, len(fields))
	}
	user, err := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond, errors.Join(err, err2)
}

// resident returns the resident set of the server in MB.
func (s *site) resident() (float64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, ok := strings.Cut(string(b), "VmRSS:")
	f := strings.Fields(rest)
	if !ok || len(f) == 0 {
		return 0, errors.New("the kernel does not tell the resident set")
	}
	kb, err := strconv.ParseFloat(f[0], 64)
	return kb * 1024 / 1e6, err
}

// weight adds up a page and all that it loads.
func (s *site) weight(path string) (int, error) {
	body, _, err := s.get(path)
	if err != nil {
		return 0, err
	}
	total := len(body)
	for _, part := range strings.Split(string(body), `"/assets/`)[1:] {
		name, _, _ := strings.Cut(part, `"`)
		asset, _, err := s.get("/assets/" + name)
		if err != nil {
			return 0, err
		}
		total += len(asset)
	}
	return total, nil
}
