// Package hooks runs at the events of Claude Code: it captures sessions and hands over what memory knows.
//
// A hook must be fast and must lose nothing. It writes a durable note to the spool, then captures the sessions of
// all notes if it gets the lock and has the time ([Run]). What takes longer is left to a worker ([Work]).
package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/memvcs/mem/hooks/settings"
)

// Run runs the hook of the named event. Unknown events are ignored.
func Run(w *World, name string) {
	event, ok := settings.ParseEvent(name)
	off := w.Getenv("MEM_HOOK") == "off" // mem started the Claude Code that runs this hook
	if off || !ok && name != Work {
		_, _ = io.Copy(io.Discard, w.Stdin) // the writer must not get a broken pipe
		return
	}
	r := &run{World: w, event: event}
	d := limitOf(event)
	if !ok {
		d, r.event, w.worker = limitOfWork, Work, true
	}
	if w.removed() {
		return
	}
	begin := w.Uptime()
	if w.Unhurried {
		r.World = w.withFixedClock(begin)
	} else {
		r.watch(d/limitTicks, limitTicks)
	}
	ctx, cancel := r.Within(context.Background(), d-shutdownTime)
	defer cancel()
	r.runLogged(ctx)
	r.phase.Store(done)
	w.recordTiming(r.event, w.Uptime()-begin, r.failed)
}

// runLogged runs the hook. Errors and panics go to the log.
func (r *run) runLogged(ctx context.Context) {
	defer func() {
		if p := recover(); p != nil {
			r.fail(fmt.Errorf("internal: %T at %s", p, panicPlace(debug.Stack())))
		}
	}()
	if err := errors.Join(r.hook(ctx), r.close()); err != nil {
		r.fail(err)
	}
}

func (r *run) fail(err error) {
	r.failed = true
	r.logError(string(r.event), r.p.Session, err)
}

// hook reads the payload and runs the hook of the event.
func (r *run) hook(ctx context.Context) (err error) {
	if r.event == Work {
		r.phase.Store(interruptible)
		return r.work(ctx)
	}
	stdin := &countingReader{r.Stdin, &r.reads}
	r.p, err = ReadPayload(stdin, r.event.Brief())
	if err != nil || r.event.Brief() {
		_, _ = io.Copy(io.Discard, stdin) // as in Run
	}
	if err != nil {
		return err
	}
	if err := checkSession(r.p.Session); err != nil {
		r.p.Session = ""
		return err
	}
	if strings.ContainsRune(r.p.Cwd, 0) {
		r.p.Cwd = "" // not a path; the session's file names its directory
	}
	switch r.event {
	case settings.PostToolUse, settings.PostToolUseFailure:
		return r.tool(ctx)
	case settings.UserPromptSubmit:
		return r.prompt(ctx)
	case settings.PreToolUse:
		return r.action()
	case settings.SubagentStart:
		return r.subagent(ctx)
	}
	if r.hasTranscript, err = checkTranscript(r.projects(), r.p.Transcript); err != nil && r.event == settings.SessionStart {
		r.phase.Store(interruptible)
		r.p.Transcript = ""
		return errors.Join(err, r.handOver(ctx, 0)) // which needs no transcript
	}
	if err != nil {
		return err
	}
	switch r.event {
	case settings.SessionStart:
		r.phase.Store(interruptible)
		return r.start(ctx)
	case settings.SubagentStop:
		return r.capture(ctx) // the subagent's directory links it to the session
	case settings.PreCompact:
		return r.compact(ctx)
	case settings.Stop:
		return r.stop(ctx)
	case settings.StopFailure:
		return errors.Join(r.capture(ctx), r.noteIncomplete())
	}
	return r.end(ctx)
}

// panicPlace returns the file and line of a panic: the first frame after the runtime's own.
func panicPlace(stack []byte) string {
	_, rest, _ := bytes.Cut(stack, []byte("panic("))
	for i, line := range bytes.Split(rest, []byte("\n")) {
		if file, _, ok := bytes.Cut(bytes.TrimSpace(line), []byte(" +0x")); ok && i > 1 {
			return filepath.Base(string(file))
		}
	}
	return "an unknown place"
}
