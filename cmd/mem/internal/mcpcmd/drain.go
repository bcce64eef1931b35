package mcpcmd

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"
)

// A drained transport delays the end of its input until each call has its answer. The SDK would drop the answers of
// running calls, so "mem mcp <calls" would print only some of them.
type drained struct {
	sdk.Transport
	out *output
}

func (t drained) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	return &drainedConn{Connection: c, out: t.out, open: map[jsonrpc.ID]bool{}, closed: make(chan struct{})}, err
}

type drainedConn struct {
	sdk.Connection
	out *output

	mu     sync.Mutex
	open   map[jsonrpc.ID]bool // calls without an answer
	ended  bool                // the input
	once   sync.Once
	closed chan struct{} // once the input has ended and no call is open, or the connection is closed
}

func (c *drainedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	for err != nil && ctx.Err() == nil && !ended(err) { // a line that is no message
		if err = c.out.refuse(codeInvalid, "invalid message: "+err.Error()); err == nil {
			m, err = c.Connection.Read(ctx)
		} else {
			err = &inputError{err}
		}
	}
	if err != nil {
		c.note(func() { c.ended = true })
		select {
		case <-c.closed:
		case <-ctx.Done():
		}
		return m, err
	}
	if r, ok := m.(*jsonrpc.Request); ok {
		c.note(func() {
			if r.IsCall() && ends(r.Method) {
				c.open[r.ID] = true
			} else if r.Method == "notifications/cancelled" {
				delete(c.open, cancelled(r.Params)) // it may get no answer
			}
		})
	}
	return m, nil
}

func (c *drainedConn) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	if r, ok := m.(*jsonrpc.Response); ok {
		c.note(func() { delete(c.open, r.ID) })
	}
	if err != nil { // nobody reads the other answers either
		c.once.Do(func() { close(c.closed) })
	}
	return err
}

func (c *drainedConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}

// note updates the set of open calls.
func (c *drainedConn) note(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	if c.ended && len(c.open) == 0 {
		c.once.Do(func() { close(c.closed) })
	}
}

// ends reports whether a call gets an answer before the input ends. A subscription does not.
func ends(method string) bool {
	return slices.Contains([]string{"initialize", "server/discover", "ping", "tools/list", "tools/call"}, method)
}

// cancelled returns the id of the call that a notification cancels.
func cancelled(params json.RawMessage) (id jsonrpc.ID) {
	id, _ = jsonrpc.MakeID(gjson.GetBytes(params, "requestId").Value()) // the zero ID is no call's
	return id
}
