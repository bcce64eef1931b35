package layerstest

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

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/repair"
	"github.com/memvcs/mem/layers/state"
	syncing "github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/remote"
)

// A hub is a repository that memories travel through, behind a real server.
type Hub struct {
	Kind string
	Dir  string            // the bare repository
	URL  string            // how it is reached
	Env  map[string]string // of those who reach it
	User string            // of http; "" lets everybody in

	Sealed   bool   // it is encrypted
	Recovery string // its recovery key, when there is one
}

// NewHub starts a hub of a kind.
func NewHub(t testing.TB, kind string) *Hub {
	t.Helper()
	plain, sealed := strings.CutPrefix(kind, "sealed ")
	h := &Hub{Kind: plain, Sealed: sealed, Dir: filepath.Join(t.TempDir(), "hub.git"), Env: map[string]string{}}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: there is no git, whose servers this test talks to: apt-get install git")
	}
	GitRun(t, "", "init", "-q", "--bare", h.Dir)
	GitRun(t, h.Dir, "config", "http.receivepack", "true")
	h.URL = h.Dir
	switch h.Kind {
	case "http":
		h.ServeHTTP(t)
	case "ssh":
		h.ServeSSH(t)
	}
	return h
}

// GitRun runs git in a directory and fails the test on an error.
func GitRun(t testing.TB, dir string, args ...string) string {
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

// ServeHTTP starts git http-backend behind basic authentication.
func (h *Hub) ServeHTTP(t testing.TB) {
	h.User = "me"
	backend := strings.TrimSpace(GitRun(t, "", "--exec-path")) + "/git-http-backend"
	git := &cgi.Handler{Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(h.Dir), "GIT_HTTP_EXPORT_ALL=1"}, Stderr: os.Stderr}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if h.User != "" && (user != h.User || password != "s3cret") {
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
	h.URL = server.URL + "/hub.git"
	h.Login(t, "s3cret")
}

// Login lets git's credential helper know a password.
func (h *Hub) Login(t testing.TB, password string) {
	script := filepath.Join(t.TempDir(), "helper")
	line := "#!/bin/sh\ncat > /dev/null\nif [ \"$1\" = get ]; then echo username=me; echo password=" + password + "; fi\n"
	if err := os.WriteFile(script, []byte(line), 0o700); err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "credential.helper", "GIT_CONFIG_VALUE_0": script,
		"GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1", "HOME": t.TempDir()} {
		h.Env[k] = v
	}
}

// ServeSSH runs OpenSSH's server on loopback, with keys of its own: one for each connection, so that nobody waits for it to listen.
func (h *Hub) ServeSSH(t testing.TB) {
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
	if err := os.WriteFile(filepath.Join(dir, "conf"), []byte(SSHConfig(dir)), 0o600); err != nil {
		t.Fatal(err)
	}
	address := EachConn(t, func(ctx context.Context, c *os.File) *exec.Cmd {
		cmd := exec.CommandContext(ctx, sshd, "-i", "-f", filepath.Join(dir, "conf"), "-E", filepath.Join(dir, "log"))
		cmd.Stdin, cmd.Stdout = c, c
		return cmd
	})
	host, port, _ := net.SplitHostPort(address) // as the listener writes it
	h.URL = "ssh://" + address + h.Dir
	h.Env["GIT_SSH_COMMAND"] = "ssh -F none -o BatchMode=yes -o StrictHostKeyChecking=no -o LogLevel=ERROR -o UserKnownHostsFile=/dev/null -o IdentitiesOnly=yes -i " + filepath.Join(dir, "user")
	if out, err := exec.Command("sh", "-c", h.Env["GIT_SSH_COMMAND"]+" -p "+port+" "+host+" true").CombinedOutput(); err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "log")) // without it there is nothing more to say
		if bytes.Contains(append(out, log...), []byte("Missing privilege separation directory")) {
			t.Skip("SKIPPED: the SSH server wants a directory of root's: mkdir -p /run/sshd")
		}
		t.Fatalf("sshd does not answer: %v %s %s", err, out, log)
	}
}

// SSHConfig is the configuration of an OpenSSH server whose keys are in a directory. A connection costs little: its key exchange is the
// cheapest, and bash takes the shell for a nested one, for which it does not run ~/.bashrc.
func SSHConfig(dir string) string {
	return fmt.Sprintf("HostKey %[1]s/host\nAuthorizedKeysFile %[1]s/user.pub\nStrictModes no\nPidFile none\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\n"+
		"KexAlgorithms curve25519-sha256\nSetEnv SHLVL=1\n", dir)
}

// EachConn listens on loopback and starts a program for each connection. They end with the test.
func EachConn(t testing.TB, program func(context.Context, *os.File) *exec.Cmd) (address string) {
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

// World is what a memory needs to reach the hub.
func (h *Hub) World() remote.World {
	return remote.World{
		Agent:  "mem/test",
		Quiet:  2 * time.Minute, // of a machine that others use too
		Getenv: func(key string) string { return h.Env[key] },
		Command: func(ctx context.Context, _ []string, name string, args ...string) *exec.Cmd {
			cmd := exec.CommandContext(ctx, name, args...)
			cmd.Env = os.Environ()
			for k, v := range h.Env {
				cmd.Env = append(cmd.Env, k+"="+v)
			}
			return cmd
		},
	}
}

// memoryAt makes a memory with the hub as its remote.
func (h *Hub) Memory(t testing.TB, device string) *layers.Memory {
	t.Helper()
	o := TestOptions()
	o.World = h.World()
	m, err := layers.Init(context.Background(), filepath.Join(t.TempDir(), "memory"), device, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	u, _, err := remote.ParseURL(h.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !h.Sealed {
		err = syncing.AddRemote(context.Background(), m.DB, "origin", u)
	} else {
		j, serr := syncing.AddSealed(context.Background(), m.DB, "origin", u, syncing.Seal{Recovery: h.Recovery})
		h.Recovery, err = cmp.Or(j.Recovery, h.Recovery), serr
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Yes agrees to every push.
func Yes(state.Project, refs.Remote) (bool, error) { return true, nil }

// Origin returns the remote of a memory.
func Origin(t testing.TB, m *layers.Memory) refs.Remote {
	t.Helper()
	r, err := syncing.Remote(m.DB, "")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// PushAll pushes every project and fails the test unless all went out.
func PushAll(t testing.TB, m *layers.Memory) syncing.Pushed {
	t.Helper()
	out, err := TryPush(t, m)
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

// TryPush pushes every project.
func TryPush(t testing.TB, m *layers.Memory) (syncing.Pushed, error) {
	t.Helper()
	projects, err := trust.Projects(context.Background(), m.DB)
	if err != nil {
		t.Fatal(err)
	}
	return syncing.Push(context.Background(), m.DB, syncing.PushOptions{Remote: Origin(t, m), Projects: projects, Consent: Yes})
}

// FetchAll fetches every project from origin and trusts the devices.
func FetchAll(t testing.TB, m *layers.Memory) syncing.Fetched {
	t.Helper()
	out := FetchUntrusted(t, m)
	TrustAll(t, m)
	return out
}

// FetchUntrusted fetches all lanes of origin, and trusts nobody.
func FetchUntrusted(t testing.TB, m *layers.Memory) syncing.Fetched {
	t.Helper()
	out, err := syncing.Fetch(context.Background(), m.DB, syncing.FetchOptions{Remote: Origin(t, m)})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Roots returns the hashes of all projects, after a check that finds nothing wrong.
func Roots(t testing.TB, m *layers.Memory) string {
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
		fmt.Fprintln(&b, r.Hash, r.Project)
	}
	return b.String()
}

// Session writes a transcript of n lines in a project.
func Session(t testing.TB, id, cwd string, n int) capture.Source {
	t.Helper()
	dir := t.TempDir()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"type":"user","uuid":"%s-%d","timestamp":"2026-01-15T10:%02d:00Z","cwd":%q,"sessionId":%q,"message":{"role":"user","content":"message %d of %s"}}`+"\n", id, i, i%60, cwd, id, i, id)
	}
	return Write(t, filepath.Join(dir, id+".jsonl"), b.String())
}
