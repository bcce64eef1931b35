package remote

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/memvcs/mem/objects/pack"
)

// An sshSession is one run of the user's ssh.
type sshSession struct {
	*advert
	w      World
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	l      *lines
	from   *lively
	watch  *watch
	stderr *said
	used   bool
}

// openSSH starts ssh as git does: GIT_SSH_COMMAND in a shell, or GIT_SSH, or ssh.
func openSSH(ctx context.Context, u URL, s Service, w World) (Session, error) {
	host, port := u.Host, ""
	if h, p, err := net.SplitHostPort(u.Host); err == nil {
		host, port = h, p
	}
	host = strings.Trim(host, "[]")
	if u.User != "" {
		host = u.User + "@" + host
	}
	var args []string
	if port != "" {
		args = append(args, "-p", port)
	}
	args = append(args, host, string(s)+" "+quote(u.Path))
	name := w.Getenv("GIT_SSH")
	if line := w.Getenv("GIT_SSH_COMMAND"); line != "" {
		name, args = "sh", append([]string{"-c", line + ` "$@"`, line}, args...)
	} else if name == "" {
		name = "ssh"
	}
	c := &sshSession{w: w, cmd: w.Command(ctx, nil, name, args...), stderr: &said{}}
	c.watch = w.watch(c.kill)
	c.cmd.Stderr = c.stderr
	c.cmd.WaitDelay = 2 * time.Second
	if err := c.start(); err != nil {
		return nil, fmt.Errorf("ssh %s: %w", host, err)
	}
	return c, nil
}

func (c *sshSession) start() error {
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.cmd.Start(); err != nil {
		return err
	}
	c.in, c.out, c.from = in, out, &lively{r: out, w: c.watch, limit: c.watch.quiet, list: true}
	c.l = newLines(c.from)
	c.watch.expect(begin * c.watch.quiet)
	c.watch.steady()
	c.advert, err = readAdvert(c.l)
	c.watch.rest()
	if err != nil {
		return c.failed(err)
	}
	c.from.list = false
	return nil
}

// kill kills ssh and closes its pipes. Programs that a shell has started for it may continue.
func (c *sshSession) kill(error) {
	_ = c.cmd.Process.Kill() // it may have ended already
	_ = c.out.Close()        // as above
	_ = c.in.Close()         // as above
}

// wait waits for ssh to end, for a limited time.
func (c *sshSession) wait() error {
	c.watch.expect(c.watch.quiet)
	defer c.watch.rest()
	return c.cmd.Wait()
}

// failed ends ssh and returns the error, with the text of its stderr if there is any.
func (c *sshSession) failed(err error) error {
	if errors.Is(err, ErrTooMany) { // it would wait for us to read on
		c.kill(err)
		_ = c.wait() // it was killed
		return err
	}
	var stalled *StalledError
	over := errors.As(c.watch.stalled(err), &stalled)
	c.in.Close() // the conversation has failed already
	wait := c.wait()
	said := c.stderr.text()
	var exit *exec.ExitError
	switch {
	case over:
		return stalled
	case errors.Is(err, ErrLacking):
		return err
	case lacks(said):
		return fmt.Errorf("%w: %s", ErrLacking, said)
	case errors.Is(err, io.EOF) && said == "" && !c.used:
		return fmt.Errorf("%w: it ends without a word (%v)", ErrProtocol, wait)
	case !errors.Is(err, io.EOF) && !errors.Is(err, ErrProtocol) && !errors.As(wait, &exit):
		return err
	case strings.Contains(said, "Permission denied"), strings.Contains(said, "Host key verification failed"),
		strings.Contains(said, "Too many authentication failures"):
		return fmt.Errorf("%w: %s", ErrAuth, said)
	case strings.Contains(said, "not a git repository"), strings.Contains(said, "to be a git repository"),
		strings.Contains(said, "does not exist"), strings.Contains(said, "not found"):
		return fmt.Errorf("%w: %s", ErrAbsent, said)
	case said != "" && c.used:
		return fmt.Errorf("%w: %s", ErrDropped, said)
	case said != "":
		return errors.New(said)
	}
	return err
}

// Fetch receives the objects of the wanted commits.
func (c *sshSession) Fetch(ctx context.Context, want, have []pack.ID, w *pack.Writer,
	lim pack.Limits) (pack.Receipt, error) {
	c.used = true
	go func() { // the remote may answer before it has read all
		_, _ = c.in.Write(c.wants(want, have, c.w.Agent)) // that it does not listen shows in its answer
	}()
	defer pulse(lim.Progress)()
	c.watch.expect(begin * c.watch.quiet)
	got, err := c.receive(c.l, w, c.watch.pack(lim), c.w.Print)
	c.watch.rest()
	if err != nil {
		if !errors.Is(err, ErrLacking) { // then the server has ended by itself
			_ = c.cmd.Process.Kill() // it would wait for us to read on
		}
		return got, errors.Join(ctx.Err(), c.failedUnless(err))
	}
	return got, nil
}

// failedUnless is failed, except for errors caused by the pack itself.
func (c *sshSession) failedUnless(err error) error {
	if errors.Is(err, pack.ErrCorrupt) || errors.Is(err, pack.ErrTooLarge) {
		_ = c.wait() // it was killed
		return err
	}
	return c.failed(err)
}

// Push sends a batch.
func (c *sshSession) Push(ctx context.Context, b Batch) error {
	c.used = true
	c.from.limit = unpack * c.watch.quiet
	out := bufio.NewWriterSize(&patient{c.in, c.watch}, 64<<10)
	_, err := out.Write(c.commands(b, c.w.Agent))
	if err == nil {
		err = pack.Stream(out, b.Objects, b.Size, b.Entries)
	}
	if err == nil {
		err = out.Flush()
	}
	if errors.Is(err, pack.ErrChanged) {
		return errors.Join(err, c.cmd.Process.Kill())
	}
	c.watch.expect(c.from.limit)
	rerr := c.report(c.l.rest(), b, c.w.Print) // the remote may have said why it stopped listening
	c.watch.rest()
	switch {
	case rerr == nil || errors.Is(rerr, ErrRejected):
		return rerr
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return c.failed(errors.Join(err, rerr))
}

// Close ends the conversation.
func (c *sshSession) Close() error {
	if !c.used {
		_, _ = io.WriteString(c.in, flush) // nothing is wanted; that it has gone already is fine
	}
	c.in.Close() // as above
	_ = c.wait() // what mattered was said before
	return nil
}

// A patient writer allows each write as much time as a server has for its first byte.
type patient struct {
	out io.Writer
	w   *watch
}

func (p *patient) Write(b []byte) (int, error) {
	p.w.expect(begin * p.w.quiet)
	n, err := p.out.Write(b)
	p.w.rest()
	return n, err
}

// quote quotes s as one word for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// said collects the first lines of stderr.
type said struct {
	mu    sync.Mutex
	rest  []byte // of a line that has not ended
	lines []string
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rest = append(s.rest, p...)
	for {
		i := bytes.IndexByte(s.rest, '\n')
		if i < 0 {
			if len(s.rest) > maxSaid {
				s.rest = s.rest[:maxSaid]
			}
			return len(p), nil
		}
		line := strings.TrimRight(string(s.rest[:min(i, maxSaid)]), "\r ")
		s.rest = s.rest[i+1:]
		if line != "" && len(s.lines) < 20 {
			s.lines = append(s.lines, line)
		}
	}
}

// text returns the collected lines as one line.
func (s *said) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "; ")
}
