// Mem keeps the memory of Claude Code sessions: originals that cannot be lost, what is derived from
// them, and how each thing was made.
//
// Each command is one file in this directory, named after the command: a constructor with the flags,
// an options struct, and a run function that calls one method of the memory and prints. The commands
// stand in one table in commands.go. A run goes straight through these files:
//
//	hook.go      what Claude Code runs goes its own, shorter way
//	argv.go      put the command line in order: options anywhere, -n5, -5, --no-x, prefixes, --
//	run.go       find the command, hand it its options, flush what it printed
//	errors.go    turn what came back into a line for people and an exit status
//	env.go       the one door to the clock, randomness, environment, directory and terminal
//
// Results go to stdout, everything else to stderr. Text that came from a transcript passes [sanitize]
// before it reaches a terminal. The exit status is never 2: Claude Code reads that as "block".
package main

import (
	"context"
	"os"
)

func main() { mainIn(osEnv()) }

// mainIn is main in a world.
func mainIn(env Env) {
	roomyStack(false)
	neverExitTwo()
	if event, store, ok := hookArgs(os.Args[1:]); ok {
		env.opt.memDir = store
		env.runHook(event)
		return
	}
	env.boundMemory()
	os.Exit(run(context.Background(), env, os.Args[1:]))
}
