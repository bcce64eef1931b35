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

// Serve listens on a port of the loopback interface, 0 for any that is free, calls ready with the address that
// signs a browser in, and answers until ctx ends. Then streams end at once, other requests within two seconds.
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
	ready(s.guard.Invitation())
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
		return errors.Join(hs.Close(), <-ignoreClosed(done)) // what still ran is cut off
	}
	return <-ignoreClosed(done)
}

// ignoreClosed passes on how serving ended, unless it was told to.
func ignoreClosed(done <-chan error) <-chan error {
	out := make(chan error, 1)
	err := <-done
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	out <- err
	return out
}

// At tells the server the port that it is reached at.
func (s *Server) At(port int) { s.guard.At(port) }

// Invitation returns the address that signs a browser in, once.
func (s *Server) Invitation() string { return s.guard.Invitation() }
