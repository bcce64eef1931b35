package main

import (
	"bytes"
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
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// gitServer serves the bare repositories in a directory with git http-backend, to the user me with the password s3cret or to everybody,
// and sets GITURL.
func gitServer(ts *testscript.TestScript, neg bool, args []string) {
	public := len(args) == 2 && args[1] == "public"
	if neg || len(args) != 1 && !public {
		ts.Fatalf("usage: gitserver DIR [public]")
	}
	out, err := exec.Command("git", "--exec-path").Output()
	ts.Check(err)
	git := &cgi.Handler{Path: filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"), Stderr: io.Discard,
		Env: []string{"GIT_PROJECT_ROOT=" + ts.MkAbs(args[0]), "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "HOME=" + ts.Getenv("HOME")}}
	serve(ts, "GITURL", func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); !public && (user != "me" || password != "s3cret") {
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
	})
}

// silentServer takes requests and never answers, and sets SILENTURL.
func silentServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: silentserver")
	}
	serve(ts, "SILENTURL", func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then is it seen that the other side has gone
		<-r.Context().Done()
	})
}

func serve(ts *testscript.TestScript, name string, h http.HandlerFunc) {
	server := httptest.NewServer(h)
	ts.Defer(func() {
		server.CloseClientConnections()
		server.Close()
	})
	ts.Setenv(name, server.URL)
}

// sshd is the server of OpenSSH.
const sshd = "/usr/sbin/sshd"

// haveSSH reports whether sshServer can do its work.
func haveSSH() bool {
	for _, program := range []string{sshd, "ssh", "ssh-agent", "ssh-add", "ssh-keygen"} {
		if _, err := exec.LookPath(program); err != nil {
			return false
		}
	}
	_, err := os.Stat("/run/sshd") // which it wants when it is root's
	return err == nil || os.Getuid() != 0
}

// sshServer starts OpenSSH's server on loopback, with a user's key that is in an agent alone, and sets SSHURL, SSH_AUTH_SOCK and
// GIT_SSH_COMMAND.
func sshServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: sshserver")
	}
	dir, err := os.MkdirTemp("", "mem-ssh") // short: the name of a socket has its limit
	ts.Check(err)
	ts.Defer(func() { os.RemoveAll(dir) })
	for _, key := range []string{"host", "user"} {
		program(ts, nil, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	port := l.Addr().(*net.TCPAddr).Port
	ts.Check(l.Close())
	conf := fmt.Sprintf("Port %d\nListenAddress 127.0.0.1\nHostKey %[2]s/host\nAuthorizedKeysFile %[2]s/user.pub\nStrictModes no\nPidFile none\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\n", port, dir)
	ts.Check(os.WriteFile(filepath.Join(dir, "conf"), []byte(conf), 0o600))
	log, err := os.Create(filepath.Join(dir, "log"))
	ts.Check(err)
	ts.Defer(func() { log.Close() })
	start(ts, log, sshd, "-D", "-e", "-f", filepath.Join(dir, "conf"))
	await := func(network, address string) {
		for range 500 {
			if c, err := net.Dial(network, address); err == nil {
				c.Close()
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		b, err := os.ReadFile(log.Name())
		ts.Fatalf("%s does not answer: %s %v", address, b, err)
	}
	await("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	sock := filepath.Join(dir, "agent")
	start(ts, log, "ssh-agent", "-D", "-a", sock)
	await("unix", sock)
	ts.Setenv("SSH_AUTH_SOCK", sock)
	program(ts, []string{"SSH_AUTH_SOCK=" + sock}, "ssh-add", "-q", filepath.Join(dir, "user"))
	ts.Check(os.Remove(filepath.Join(dir, "user")))
	ts.Setenv("SSHURL", fmt.Sprintf("ssh://127.0.0.1:%d", port))
	ts.Setenv("GIT_SSH_COMMAND", "ssh -F none -o BatchMode=yes -o StrictHostKeyChecking=no -o LogLevel=ERROR -o UserKnownHostsFile=/dev/null")
}

func program(ts *testscript.TestScript, env []string, name string, args ...string) {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		ts.Fatalf("%s %v: %v %s", name, args, err, out)
	}
}

// start starts a program that ends with the script.
func start(ts *testscript.TestScript, log io.Writer, name string, args ...string) {
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = log, log
	ts.Check(cmd.Start())
	ts.Defer(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
}
