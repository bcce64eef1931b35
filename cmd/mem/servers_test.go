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

// sshServer makes ready OpenSSH's server, with a user's key that is in an agent alone, and sets SSHURL, SSH_AUTH_SOCK and
// GIT_SSH_COMMAND. Each client starts a server of its own at the other end of a pipe: no port can be another's.
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
	conf := fmt.Sprintf("HostKey %[1]s/host\nAuthorizedKeysFile %[1]s/user.pub\nStrictModes no\nPidFile none\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\n", dir)
	ts.Check(os.WriteFile(filepath.Join(dir, "conf"), []byte(conf), 0o600))
	through := fmt.Sprintf("Host *\nProxyCommand %s -i -f %[2]s/conf -E %[2]s/log\nBatchMode yes\nStrictHostKeyChecking no\nLogLevel ERROR\nUserKnownHostsFile /dev/null\n", sshd, dir)
	ts.Check(os.WriteFile(filepath.Join(dir, "through"), []byte(through), 0o600)) // a pipe: no port can be another's
	log, err := os.Create(filepath.Join(dir, "agent.log"))
	ts.Check(err)
	ts.Defer(func() { log.Close() })
	sock := filepath.Join(dir, "agent")
	start(ts, log, "ssh-agent", "-D", "-a", sock)
	awaitSocket(ts, sock, log.Name())
	ts.Setenv("SSH_AUTH_SOCK", sock)
	program(ts, []string{"SSH_AUTH_SOCK=" + sock}, "ssh-add", "-q", filepath.Join(dir, "user"))
	ts.Check(os.Remove(filepath.Join(dir, "user")))
	ts.Setenv("SSHURL", "ssh://127.0.0.1:2222")
	ts.Setenv("GIT_SSH_COMMAND", "ssh -F "+filepath.Join(dir, "through"))
}

// awaitSocket waits until a server listens.
func awaitSocket(ts *testscript.TestScript, sock, log string) {
	for range 6000 {
		if c, err := net.Dial("unix", sock); err == nil {
			c.Close()
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	b, err := os.ReadFile(log)
	ts.Fatalf("%s does not answer: %s %v", sock, b, err)
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
