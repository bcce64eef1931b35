package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
)

// report prints err, as JSON with --json, and returns the exit status.
func report(e *app.Env, err error) int {
	code := app.StatusOf(err)
	var silent *app.Quiet
	if code == app.ExitDone || errors.As(err, &silent) {
		return code
	}
	p := app.Problem{Code: code, Message: app.OneLine(err.Error()), Hints: app.Each(app.HintsOf(err), app.OneLine)}
	if code == app.ExitInterrupted {
		p.Message = "interrupted"
	}
	printProblem(e, p)
	return code
}

func printProblem(e *app.Env, p app.Problem) {
	if e.Opt.JSON {
		if b, err := app.EncodeJSON("error", p); err == nil {
			_, _ = e.Stderr.Write(b) // a broken stderr cannot be reported
			return
		}
	}
	var b bytes.Buffer
	style := e.StderrStyle()
	fmt.Fprintf(&b, "%s %s\n", style.Red("error:"), p.Message)
	for _, h := range p.Hints {
		if e.Getenv("MEM_ADVICE") != "0" {
			fmt.Fprintf(&b, "%s %s\n", style.Yellow("hint:"), h)
		}
	}
	_, _ = e.Stderr.Write(b.Bytes()) // as above
}

// reportPanic reports a panic, which is always a bug of mem.
func reportPanic(e *app.Env, p any) int {
	printProblem(e, app.Problem{
		Code:    app.ExitFatal,
		Message: app.OneLine(fmt.Sprintf("internal: %v", p)),
		Hints:   []string{"this is a bug of mem: report it with the text below"},
	})
	if !e.Opt.JSON {
		_, _ = io.WriteString(e.Stderr, term.Sanitize(string(debug.Stack()))) // as above
	}
	return app.ExitFatal
}
