package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
)

// Serve listens on a port of the loopback interface (0 for any free port), calls ready with the sign-in URL, and serves
// requests until ctx ends. Then streams end immediately, other requests within [api.Patience].
func (s *Server) Serve(ctx context.Context, port int, ready func(address string)) error {
	var of net.ListenConfig
	l, err := of.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("listen on port %d of this machine: %w", port, err)
	}
	at, ok := l.Addr().(*net.TCPAddr)
	if !ok || !at.IP.IsLoopback() {
		return errors.Join(fmt.Errorf("%s is not the loopback interface", l.Addr()), l.Close())
	}
	s.At(at.Port)
	hs := &http.Server{
		Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	done := make(chan error, 1)
	go func() { done <- hs.Serve(l) }()
	ready(s.guard.SignInURL())
	go s.Index(ctx) // the first search does not wait for all of it
	select {
	case err := <-done:
		s.Close()
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	s.Close()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), api.Patience)
	defer cancel()
	if err := hs.Shutdown(last); err != nil {
		return errors.Join(hs.Close(), ignoreClosed(<-done)) // aborts the remaining requests
	}
	return ignoreClosed(<-done)
}

// ignoreClosed drops the error of a server that was shut down.
func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// At sets the port of the server.
func (s *Server) At(port int) { s.guard.At(port) }

// SignInURL returns a URL that signs a browser in once.
func (s *Server) SignInURL() string { return s.guard.SignInURL() }
