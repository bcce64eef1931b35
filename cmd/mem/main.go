package main

import (
	"context"
	"os"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/hookcmd"
)

func main() { mainIn(app.OsEnv()) }

// mainIn is main with the given environment.
func mainIn(env app.Env) {
	app.NeverExitTwo()
	if event, store, ok := hookcmd.HookArgs(os.Args[1:], env.Term.Stdin); ok {
		env.Opt.MemDir = store
		hookcmd.RunHook(&env, event)
		return
	}
	app.BoundMemory(&env)
	os.Exit(run(context.Background(), env, os.Args[1:]))
}
