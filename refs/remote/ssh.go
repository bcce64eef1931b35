package remote

import (
	"bufio"
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

// An sshSession is a session through a process of the user's ssh.
type sshSession struct {
	*advertisement
	w       World
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     io.ReadCloser
	l       *pktReader
	from    *stallReader
	watch   *stallTimer
	stderr  *stderrLines
	started bool
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
	c := &sshSession{w: w, cmd: w.Command(ctx, nil, name, args...), stderr: newStderrLines()}
	c.watch = w.stallTimer(c.kill)
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
	c.in, c.out, c.from = in, out, &stallReader{r: out, w: c.watch, limit: c.watch.quiet, countAll: true}
	c.l = newPktReader(c.from)
	c.watch.expect(firstByteFactor * c.watch.quiet)
	c.watch.expectParts()
	c.advertisement, err = readAdvertisement(c.l)
	c.watch.stop()
	if err != nil {
		return c.failed(err)
	}
	c.from.countAll = false
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
	defer c.watch.stop()
	return c.cmd.Wait()
}

// failed ends ssh and returns the error, with its messages on stderr if there are any.
func (c *sshSession) failed(err error) error {
	if errors.Is(err, ErrTooMany) { // ssh would wait for a reader
		c.kill(err)
		_ = c.wait() // it was killed
		return err
	}
	var stalled *StalledError
	over := errors.As(c.watch.stalled(err), &stalled)
	c.in.Close() // the session has failed already
	wait := c.wait()
	message := c.stderr.text()
	var exit *exec.ExitError
	switch {
	case over:
		return stalled
	case errors.Is(err, ErrMissing):
		return err
	case reportsMissing(message):
		return fmt.Errorf("%w: %s", ErrMissing, message)
	case errors.Is(err, io.EOF) && message == "" && !c.started:
		return fmt.Errorf("%w: ssh ended without a message (%v)", ErrProtocol, wait)
	case !errors.Is(err, io.EOF) && !errors.Is(err, ErrProtocol) && !errors.Is(err, ErrDropped) && !errors.As(wait, &exit):
		return err
	case strings.Contains(message, "Permission denied"), strings.Contains(message, "Host key verification failed"),
		strings.Contains(message, "Too many authentication failures"):
		return fmt.Errorf("%w: %s", ErrAuth, message)
	case strings.Contains(message, "not a git repository"), strings.Contains(message, "to be a git repository"),
		strings.Contains(message, "does not exist"), strings.Contains(message, "not found"):
		return fmt.Errorf("%w: %s", ErrAbsent, message)
	case message != "" && c.started:
		return fmt.Errorf("%w: %s", ErrDropped, message)
	case message != "":
		return errors.New(message)
	}
	return err
}

// Fetch receives the objects of the wanted commits.
func (c *sshSession) Fetch(ctx context.Context, want, have []pack.ID, w *pack.Writer,
	lim pack.Limits) (pack.Receipt, error) {
	c.started = true
	go func() { // the remote may answer before it has read all
		_, _ = c.in.Write(c.fetchRequest(want, have, c.w.Agent)) // a failure shows in the answer
	}()
	defer tick(lim.Progress)()
	c.watch.expect(firstByteFactor * c.watch.quiet)
	got, err := c.receivePack(c.l, w, c.watch.limits(lim), c.w.Print)
	c.watch.stop()
	if err != nil {
		if !errors.Is(err, ErrMissing) { // else the server has ended
			_ = c.cmd.Process.Kill() // it would wait for a reader
		}
		return got, errors.Join(ctx.Err(), c.failedFetch(err))
	}
	return got, nil
}

// failedFetch is failed, except for errors caused by the pack itself.
func (c *sshSession) failedFetch(err error) error {
	if errors.Is(err, pack.ErrCorrupt) || errors.Is(err, pack.ErrTooLarge) {
		_ = c.wait() // it was killed
		return err
	}
	return c.failed(err)
}

// Push sends a batch.
func (c *sshSession) Push(ctx context.Context, b Batch) error {
	c.started = true
	c.from.limit = reportFactor * c.watch.quiet
	conn := &stallWriter{out: c.in, w: c.watch}
	out := bufio.NewWriterSize(conn, 64<<10)
	_, err := out.Write(c.pushRequest(b, c.w.Agent))
	if err == nil {
		err = pack.Stream(out, b.Objects, b.Size, b.Entries)
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil && conn.err == nil { // an error of the store: the remote would wait for the rest
		c.kill(err)
		return err
	}
	c.watch.expect(c.from.limit)
	rerr := c.readReport(c.l.rest(), b, c.w.Print) // the remote may have reported a reason
	c.watch.stop()
	switch {
	case rerr == nil || errors.Is(rerr, ErrRejected):
		return rerr
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return c.failed(errors.Join(err, rerr))
}

// Close ends the session.
func (c *sshSession) Close() error {
	if !c.started {
		_, _ = io.WriteString(c.in, flush) // a flush packet ends the session; ssh may have ended already
	}
	c.in.Close() // as above
	_ = c.wait() // results were reported before
	return nil
}

// A stallWriter gives each write the time that a server has for its first byte.
type stallWriter struct {
	out io.Writer
	w   *stallTimer
	err error // of the last write
}

func (p *stallWriter) Write(b []byte) (int, error) {
	p.w.expect(firstByteFactor * p.w.quiet)
	var n int
	n, p.err = p.out.Write(b)
	p.w.stop()
	return n, p.err
}

// quote quotes s as one word for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// stderrLines collects the first lines of stderr.
type stderrLines struct {
	mu    sync.Mutex
	split lineWriter
	lines []string
}

func newStderrLines() *stderrLines {
	s := &stderrLines{}
	s.split.line = func(line string) {
		if len(s.lines) < 20 {
			s.lines = append(s.lines, line)
		}
	}
	return s
}

func (s *stderrLines) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.split.write(p)
	return len(p), nil
}

// text returns the collected lines as one line. Nothing is written afterwards.
func (s *stderrLines) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.split.flush()
	return strings.Join(s.lines, "; ")
}
