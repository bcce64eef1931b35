package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A way is how a remote is reached: what stands before the name of a repository in the benchmark's directory, and what the
// programs need to know.
type way struct {
	name, base string
	env        []string
	stop       func()
}

// ways are the ways to reach a remote on this machine. What cannot be started is said why.
func (b *bench) ways(git string) (all []way, skipped map[string]error) {
	skipped = map[string]error{}
	all = []way{{name: "directory", base: b.tmp, stop: func() {}}}
	for name, start := range map[string]func(string) (way, error){"http": b.serveHTTP, "ssh": b.serveSSH} {
		w, err := start(git)
		if err != nil {
			skipped[name] = err
			continue
		}
		all = append(all, w)
	}
	if len(all) == 3 && all[1].name == "ssh" { // the order of a map is none
		all[1], all[2] = all[2], all[1]
	}
	return all, skipped
}

// serveHTTP starts git http-backend behind a password.
func (b *bench) serveHTTP(git string) (way, error) {
	backend, err := b.output(git, "--exec-path")
	if err != nil {
		return way{}, err
	}
	path := strings.TrimSpace(string(backend)) + "/git-http-backend"
	if _, err := os.Stat(path); err != nil {
		return way{}, err
	}
	server := httptest.NewServer(private(&cgi.Handler{Path: path, Env: []string{"GIT_PROJECT_ROOT=" + b.tmp, "GIT_HTTP_EXPORT_ALL=1"}, Stderr: os.Stderr}))
	return way{name: "http", base: server.URL, stop: server.Close, env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=credential.helper",
		"GIT_CONFIG_VALUE_0=!f() { echo username=me; echo password=pw; }; f", "GIT_TERMINAL_PROMPT=0"}}, nil
}

// private lets those in who know the password.
func private(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pw, _ := r.BasicAuth(); pw != "pw" {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "who are you", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// serveSSH starts OpenSSH's server on loopback, with keys of its own.
func (b *bench) serveSSH(string) (way, error) {
	sshd := "/usr/sbin/sshd"
	if _, err := os.Stat(sshd); err != nil {
		return way{}, err
	}
	dir := filepath.Join(b.tmp, "ssh")
	if err := b.fresh(dir); err != nil {
		return way{}, err
	}
	for _, key := range []string{"host", "user"} {
		if err := b.once("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key)); err != nil {
			return way{}, err
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return way{}, err
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		return way{}, err
	}
	_, port, _ := net.SplitHostPort(address) // it has one
	conf := fmt.Sprintf("Port %s\nListenAddress 127.0.0.1\nHostKey %[2]s/host\nAuthorizedKeysFile %[2]s/user.pub\nStrictModes no\nPidFile none\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\n", port, dir)
	if err := os.WriteFile(filepath.Join(dir, "conf"), []byte(conf), 0o600); err != nil {
		return way{}, err
	}
	cmd := exec.Command(sshd, "-D", "-e", "-f", filepath.Join(dir, "conf"))
	if err := cmd.Start(); err != nil {
		return way{}, err
	}
	stop := func() {
		_ = cmd.Process.Kill() // it may have ended by itself
		_ = cmd.Wait()
	}
	for range 250 {
		c, err := net.Dial("tcp", address)
		if err == nil {
			ssh := "ssh -F none -o BatchMode=yes -o StrictHostKeyChecking=no -o LogLevel=ERROR -o UserKnownHostsFile=/dev/null -o IdentitiesOnly=yes -i " + filepath.Join(dir, "user")
			return way{name: "ssh", base: "ssh://" + address + b.tmp, env: []string{"GIT_SSH_COMMAND=" + ssh}, stop: stop}, c.Close()
		}
		time.Sleep(20 * time.Millisecond)
	}
	stop()
	return way{}, errors.New("sshd does not answer; does /run/sshd exist?")
}
