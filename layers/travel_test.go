package layers

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/repair"
	"github.com/memvcs/mem/layers/state"
	syncing "github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/remote"
)

// A hub is a repository that memories travel through, behind a real server.
type hub struct {
	kind string
	dir  string            // the bare repository
	url  string            // how it is reached
	env  map[string]string // of those who reach it
	user string            // of http; "" lets everybody in

	sealed   bool   // it is encrypted
	recovery string // its recovery key, when there is one
}

// hubs are the ways to reach a remote.
func hubs() []string { return []string{"dir", "http", "ssh"} }

// dirHubs are a directory, and one that is an encrypted remote.
func dirHubs() []string { return []string{"dir", "sealed dir"} }

func newHub(t testing.TB, kind string) *hub {
	t.Helper()
	plain, sealed := strings.CutPrefix(kind, "sealed ")
	h := &hub{kind: plain, sealed: sealed, dir: filepath.Join(t.TempDir(), "hub.git"), env: map[string]string{}}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: there is no git, whose servers this test talks to: apt-get install git")
	}
	gitRun(t, "", "init", "-q", "--bare", h.dir)
	gitRun(t, h.dir, "config", "http.receivepack", "true")
	h.url = h.dir
	switch h.kind {
	case "http":
		h.serveHTTP(t)
	case "ssh":
		h.serveSSH(t)
	}
	return h
}

func gitRun(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// serveHTTP starts git http-backend behind basic authentication.
func (h *hub) serveHTTP(t testing.TB) {
	h.user = "me"
	backend := strings.TrimSpace(gitRun(t, "", "--exec-path")) + "/git-http-backend"
	git := &cgi.Handler{Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(h.dir), "GIT_HTTP_EXPORT_ALL=1"}, Stderr: os.Stderr}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if h.user != "" && (user != h.user || password != "s3cret") {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "who are you", http.StatusUnauthorized)
			return
		}
		body, err := io.ReadAll(r.Body) // git http-backend spins for ever on a body that ends early
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		git.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	h.url = server.URL + "/hub.git"
	h.login(t, "s3cret")
}

// login lets git's credential helper know a password.
func (h *hub) login(t testing.TB, password string) {
	script := filepath.Join(t.TempDir(), "helper")
	line := "#!/bin/sh\ncat > /dev/null\nif [ \"$1\" = get ]; then echo username=me; echo password=" + password + "; fi\n"
	if err := os.WriteFile(script, []byte(line), 0o700); err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "credential.helper", "GIT_CONFIG_VALUE_0": script,
		"GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1", "HOME": t.TempDir()} {
		h.env[k] = v
	}
}

// serveSSH runs OpenSSH's server on loopback, with keys of its own: one for each connection, so that nobody waits for it to listen.
func (h *hub) serveSSH(t testing.TB) {
	sshd := os.Getenv("MEM_TEST_SSHD")
	for _, path := range []string{"/usr/sbin/sshd", "/usr/local/sbin/sshd"} {
		if _, err := os.Stat(path); sshd == "" && err == nil {
			sshd = path
		}
	}
	if _, err := exec.LookPath("ssh"); sshd == "" || err != nil {
		t.Skip("SKIPPED: there is no OpenSSH server and client: apt-get install openssh-server openssh-client")
	}
	dir := t.TempDir()
	for _, key := range []string{"host", "user"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key)).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v %s", err, out)
		}
	}
	conf := fmt.Sprintf("HostKey %[1]s/host\nAuthorizedKeysFile %[1]s/user.pub\nStrictModes no\nPidFile none\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\n", dir)
	if err := os.WriteFile(filepath.Join(dir, "conf"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	address := eachConn(t, func(ctx context.Context, c *os.File) *exec.Cmd {
		cmd := exec.CommandContext(ctx, sshd, "-i", "-f", filepath.Join(dir, "conf"), "-E", filepath.Join(dir, "log"))
		cmd.Stdin, cmd.Stdout = c, c
		return cmd
	})
	host, port, _ := net.SplitHostPort(address) // as the listener writes it
	h.url = "ssh://" + address + h.dir
	h.env["GIT_SSH_COMMAND"] = "ssh -F none -o BatchMode=yes -o StrictHostKeyChecking=no -o LogLevel=ERROR -o UserKnownHostsFile=/dev/null -o IdentitiesOnly=yes -i " + filepath.Join(dir, "user")
	if out, err := exec.Command("sh", "-c", h.env["GIT_SSH_COMMAND"]+" -p "+port+" "+host+" true").CombinedOutput(); err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "log")) // without it there is nothing more to say
		if bytes.Contains(append(out, log...), []byte("Missing privilege separation directory")) {
			t.Skip("SKIPPED: the SSH server wants a directory of root's: mkdir -p /run/sshd")
		}
		t.Fatalf("sshd does not answer: %v %s %s", err, out, log)
	}
}

// eachConn listens on loopback and starts a program for each connection. They end with the test.
func eachConn(t testing.TB, program func(context.Context, *os.File) *exec.Cmd) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // the test is over
			}
			f, err := c.(*net.TCPConn).File()
			if err != nil {
				t.Error(err)
				return
			}
			cmd := program(ctx, f)
			if err := errors.Join(cmd.Start(), f.Close(), c.Close()); err != nil {
				t.Error(err)
				return
			}
			all.Go(func() { _ = cmd.Wait() }) // how a conversation went is told by its other end
		}
	})
	t.Cleanup(func() {
		l.Close()
		stop()
		all.Wait()
	})
	return l.Addr().String()
}

// world is what a memory needs to reach the hub.
func (h *hub) world() remote.World {
	return remote.World{
		Agent:  "mem/test",
		Quiet:  2 * time.Minute, // of a machine that others use too
		Getenv: func(key string) string { return h.env[key] },
		Command: func(ctx context.Context, _ []string, name string, args ...string) *exec.Cmd {
			cmd := exec.CommandContext(ctx, name, args...)
			cmd.Env = os.Environ()
			for k, v := range h.env {
				cmd.Env = append(cmd.Env, k+"="+v)
			}
			return cmd
		},
	}
}

// memoryAt makes a memory with the hub as its remote.
func (h *hub) memory(t testing.TB, device string) *Memory {
	t.Helper()
	o := testOptions()
	o.World = h.world()
	m, err := Init(context.Background(), filepath.Join(t.TempDir(), "memory"), device, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	u, _, err := remote.ParseURL(h.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !h.sealed {
		err = syncing.AddRemote(context.Background(), m.DB, "origin", u)
	} else {
		j, serr := syncing.AddSealed(context.Background(), m.DB, "origin", u, syncing.Seal{Recovery: h.recovery})
		h.recovery, err = cmp.Or(j.Recovery, h.recovery), serr
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func yes(state.Project, refs.Remote) (bool, error) { return true, nil }

func origin(t testing.TB, m *Memory) refs.Remote {
	t.Helper()
	r, err := syncing.Remote(m.DB, "")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// pushAll pushes every project and fails the test unless all went out.
func pushAll(t testing.TB, m *Memory) syncing.Pushed {
	t.Helper()
	out, err := tryPush(t, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range out.Lanes {
		if l.Status != "new" && l.Status != "updated" && l.Status != "current" {
			t.Fatalf("push %s: %s %s", l.Project.Name, l.Status, l.Why)
		}
	}
	return out
}

func tryPush(t testing.TB, m *Memory) (syncing.Pushed, error) {
	t.Helper()
	projects, err := trust.Projects(context.Background(), m.DB)
	if err != nil {
		t.Fatal(err)
	}
	return syncing.Push(context.Background(), m.DB, syncing.PushOptions{Remote: origin(t, m), Projects: projects, Consent: yes})
}

func fetchAll(t testing.TB, m *Memory) syncing.Fetched {
	t.Helper()
	out := fetchUntrusted(t, m)
	trustAll(t, m)
	return out
}

// fetchUntrusted fetches all lanes of origin, and trusts nobody.
func fetchUntrusted(t testing.TB, m *Memory) syncing.Fetched {
	t.Helper()
	out, err := syncing.Fetch(context.Background(), m.DB, syncing.FetchOptions{Remote: origin(t, m)})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// roots returns the hashes of all projects, after a check that finds nothing wrong.
func roots(t testing.TB, m *Memory) string {
	t.Helper()
	c, err := repair.Check(context.Background(), m.DB, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range c.Problems {
		t.Errorf("%s: %v", m.Refs.Dir(), p)
	}
	var b strings.Builder
	for _, r := range c.Roots {
		fmt.Fprintln(&b, r.Hash, r.Project.ID)
	}
	return b.String()
}

// session writes a transcript of n lines in a project.
func session(t testing.TB, id, cwd string, n int) capture.Source {
	t.Helper()
	dir := t.TempDir()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"type":"user","uuid":"%s-%d","timestamp":"2026-01-15T10:%02d:00Z","cwd":%q,"sessionId":%q,"message":{"role":"user","content":"message %d of %s"}}`+"\n", id, i, i%60, cwd, id, i, id)
	}
	return write(t, filepath.Join(dir, id+".jsonl"), b.String())
}

// TestTravel sends memory from one device to another and back over each kind of server. Both end with the same
// hash, and git finds nothing wrong with what is between them.
func TestTravel(t *testing.T) {
	t.Parallel()
	for _, kind := range append(hubs(), "sealed dir", "sealed http", "sealed ssh") {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			h := newHub(t, kind)
			a, b := h.memory(t, "laptop"), h.memory(t, "desk")
			add(t, a, session(t, "s1", "/home/dev/shop", 40), session(t, "s2", "/home/dev/blog", 5))
			if out := pushAll(t, a); out.Objects == 0 || len(out.Lanes) != 2 {
				t.Errorf("push: %+v", out)
			}
			if out := pushAll(t, a); out.Objects != 0 {
				t.Errorf("a second push sent %d objects", out.Objects)
			}
			in := fetchAll(t, b)
			if len(in.Lanes) != 2 || len(in.Devices) != 1 || in.Devices[0].Name != "laptop" || in.Devices[0].Trusted {
				t.Errorf("fetch: %+v", in)
			}
			if roots(t, a) != roots(t, b) {
				t.Error("other roots after the first fetch")
			}
			add(t, b, session(t, "s3", "/home/dev/shop", 7))
			pushAll(t, b)
			add(t, a, session(t, "s1", "/home/dev/shop", 60)) // meanwhile the first one grows
			pushAll(t, a)
			fetchAll(t, a)
			fetchAll(t, b)
			if ra, rb := roots(t, a), roots(t, b); ra != rb {
				t.Errorf("other roots:\n%s\n%s", ra, rb)
			}
			if in := fetchAll(t, b); len(in.Lanes) != 0 || in.Objects != 0 {
				t.Errorf("nothing new, but %+v", in)
			}
			gitRun(t, h.dir, "fsck", "--strict", "--full")
		})
	}
}

// TestFetchDeltas fetches what git has packed anew, with differences.
func TestFetchDeltas(t *testing.T) {
	t.Parallel()
	for _, kind := range hubs() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			h := newHub(t, kind)
			a, b := h.memory(t, "laptop"), h.memory(t, "desk")
			for i := range 30 {
				add(t, a, session(t, "s1", "/home/dev/shop", 10*i+1))
			}
			pushAll(t, a)
			gitRun(t, h.dir, "-c", "pack.window=20", "repack", "-a", "-d", "-f", "--depth=50")
			if out := gitRun(t, h.dir, "verify-pack", "-v", strings.TrimSpace(gitRun(t, h.dir, "rev-parse", "--git-path", "objects/pack"))+"/"+onlyPack(t, h.dir)); !strings.Contains(out, "chain length") {
				t.Fatal("git made no differences")
			}
			fetchAll(t, b)
			if roots(t, a) != roots(t, b) {
				t.Error("other roots")
			}
		})
	}
}

func onlyPack(t *testing.T, dir string) string {
	t.Helper()
	packs, err := filepath.Glob(filepath.Join(dir, "objects", "pack", "*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatalf("packs %v, %v", packs, err)
	}
	return filepath.Base(packs[0])
}

// TestAuthentication looks at what a server does not let in, or lets everybody in.
func TestAuthentication(t *testing.T) {
	t.Parallel()
	h := newHub(t, "http")
	m := h.memory(t, "laptop")
	add(t, m, session(t, "s1", "/home/dev/shop", 3))
	h.login(t, "wrong")
	if _, err := tryPush(t, m); !errors.Is(err, remote.ErrAuth) {
		t.Errorf("push with a wrong password: %v, want ErrAuth", err)
	}
	h.user = "" // now anybody may read
	if _, err := tryPush(t, m); !errors.Is(err, syncing.ErrPublic) {
		t.Errorf("push to a public repository: %v, want ErrPublic", err)
	}
	if refs := gitRun(t, h.dir, "for-each-ref"); refs != "" {
		t.Errorf("it has arrived: %s", refs)
	}
	h.user = "me"
	h.login(t, "s3cret")
	pushAll(t, m)
	b, err := os.ReadFile(filepath.Join(m.Refs.Dir(), "remotes.json"))
	if err != nil || strings.Contains(string(b), "s3cret") {
		t.Errorf("remotes.json: %v %s", err, b)
	}
}
