package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// A login contains the credentials for a server. They are only kept in memory.
type login struct {
	user, password string
	approved       bool
}

// fill gets credentials from git's credential helpers.
func (c *Client) fill(ctx context.Context) (user, password string, err error) {
	if c.login.user != "" || c.login.password != "" {
		return c.login.user, c.login.password, nil
	}
	out, err := c.credential(ctx, "fill", "", "")
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", "", ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return "", "", fmt.Errorf("%w: %s asks for a password, and git with its credential helpers is not installed",
			ErrAuth, c.url)
	case errors.As(err, &exit):
		return "", "", fmt.Errorf("%w: %s asks for a password, and git credential fill gives none", ErrAuth, c.url)
	case err != nil:
		return "", "", fmt.Errorf("git credential fill: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		switch key {
		case "username":
			user = value
		case "password":
			password = value
		}
	}
	if password == "" {
		return "", "", fmt.Errorf("%w: git credential fill gives no password for %s", ErrAuth, c.url)
	}
	c.login = login{user: user, password: password}
	return user, password, nil
}

// approve tells git's credential helpers once that a password was accepted. [Client.waitApproved] waits for them.
func (c *Client) approve(ctx context.Context, user, password string) {
	if password == "" || c.login.approved {
		return
	}
	c.login.approved = true
	c.approving.Go(func() {
		_, _ = c.credential(ctx, "approve", user, password) // on failure the user is asked again
	})
}

// waitApproved waits for the credential helpers that approve has started.
func (c *Client) waitApproved() { c.approving.Wait() }

// reject tells git's credential helpers that a password was rejected.
func (c *Client) reject(ctx context.Context, user, password string) {
	c.login = login{}
	c.waitApproved()
	_, _ = c.credential(ctx, "reject", user, password) // as above
}

// credential runs git credential. The password is sent through a pipe, never on a command line.
func (c *Client) credential(ctx context.Context, action, user, password string) ([]byte, error) {
	var in bytes.Buffer
	fmt.Fprintf(&in, "protocol=%s\nhost=%s\n", c.url.Scheme, c.url.Host)
	if c.url.Path != "" {
		fmt.Fprintf(&in, "path=%s\n", strings.TrimPrefix(c.url.Path, "/"))
	}
	if password != "" {
		fmt.Fprintf(&in, "username=%s\npassword=%s\n", user, password)
	}
	cmd := c.world.Command(ctx, nil, "git", "credential", action)
	cmd.Stdin = &in
	return cmd.Output()
}
