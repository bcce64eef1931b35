package web

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/refs/disk"
)

type serveOptions struct {
	port     int
	open     bool
	readOnly bool
}

// Serve returns mem serve.
func Serve(e *app.Env) *cli.Command {
	var o serveOptions
	return &cli.Command{
		Name:  "serve",
		Usage: "show the memory in a browser and serve the API",
		Description: "Listens on 127.0.0.1 and prints an address that signs in one browser. The REST API is\n" +
			"under /api/memory; programs need a token of \"mem token add\". With -p, serves only that\n" +
			"project. Ctrl-C stops the server.",
		Flags: []cli.Flag{
			app.ParsedFlag(&o.port, "port", "listen on port `N`; default a free port", parsePort),
			app.BoolFlag(&o.open, "open", "open the address in the browser"),
			app.BoolFlag(&o.readOnly, "read-only", "refuse every change"),
		},
		Action: app.Action(e, 0, 0, func(ctx context.Context, run app.Run) error {
			return runServe(ctx, run, o)
		}),
	}
}

func parsePort(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return 0, errors.New("want a number from 0 to 65535")
	}
	return int(n), nil
}

func runServe(ctx context.Context, run app.Run, o serveOptions) error {
	world, err := api.WorldOf(run)
	if err != nil {
		return err
	}
	world.ReadOnly = o.readOnly
	if run.Yield != nil { // hooks that capture a session must not wait for pages
		run.Yield()
	}
	server, err := newServer(world)
	if err != nil {
		return err
	}
	defer os.Remove(signInFile(world.Store)) // it may not be there
	return server.Serve(ctx, o.port, func(address string) {
		if run.Opt.JSON {
			err = run.PrintJSON("serve", nil, "address", address)
		} else {
			run.Printf("%s\n", address)
			run.Note("the address signs in one browser; Ctrl-C ends the server")
		}
		if err := errors.Join(err, run.Out.Flush()); err != nil {
			run.Warn("%v", err)
		}
		if o.open {
			openBrowser(ctx, run.Env, world.Store, server.SignInURL())
		}
	})
}

// signInFile is the file that sends a browser to the address that signs it in.
func signInFile(store string) string { return filepath.Join(store, "cache", "sign-in.html") }

// openBrowser opens an address in the user's browser. Other users of the machine can read command lines, so that the
// address, which signs anybody in once, is in a file that only the user can read.
func openBrowser(ctx context.Context, e *app.Env, store, address string) {
	file := signInFile(store)
	page := fmt.Sprintf("<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n"+
		"<meta http-equiv=\"refresh\" content=\"0; url=%[1]s\">\n<title>mem</title>\n<a href=\"%[1]s\">Open mem</a>\n", address)
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = disk.WriteFile(file, []byte(page))
	}
	if err != nil {
		e.Warn("%v: open the address yourself", err)
		return
	}
	name, args := "xdg-open", []string{file}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", file}
	}
	if _, err := exec.LookPath(name); err != nil {
		e.Warn("%s is not installed: open the address yourself", name)
		return
	}
	cmd := e.Command(context.WithoutCancel(ctx), nil, name, args...)
	if err := cmd.Start(); err != nil {
		e.Warn("%v: open the address yourself", fmt.Errorf("start %s: %w", name, err))
		return
	}
	go func() { _ = cmd.Wait() }() // how the browser ends is its own affair
}
