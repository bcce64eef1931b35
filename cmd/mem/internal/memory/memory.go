package memory

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/state"
)

// BoundMemory makes commands collect garbage before it takes more than a few hundred megabytes.
func BoundMemory(e *app.Env) {
	if e.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(mostMemory)
	}
}

// mostMemory is up to how many bytes garbage is left lying.
const mostMemory = 200 << 20

// SpendMemory lets a command that only looks collect less garbage: it is over before that pays.
func SpendMemory() { debug.SetGCPercent(800) }

// RelaxGC is a weaker [SpendMemory], for a command that may have to build an index first.
func RelaxGC() { debug.SetGCPercent(200) }

// Open opens the memory that the command works on. The caller closes it.
func Open(e *app.Env) (*layers.Memory, error) {
	dir, err := e.MemoryDir()
	if err != nil {
		return nil, err
	}
	o, err := MemoryOptions(e)
	if err != nil {
		return nil, err
	}
	m, err := layers.Open(dir, o)
	if err != nil {
		return nil, &app.Unreadable{Err: fmt.Errorf("open the memory: %w", err)}
	}
	return m, nil
}

// ObjectsOnly opens the memory to read objects by their names: that needs no settings, and scripts do it often.
func ObjectsOnly(e *app.Env) (*layers.Memory, error) {
	dir, err := e.MemoryDir()
	if err != nil {
		return nil, err
	}
	m, err := layers.OpenObjects(dir, state.Options{Now: e.Now, Rand: e.Rand})
	if err != nil {
		return nil, &app.Unreadable{Err: fmt.Errorf("open the memory: %w", err)}
	}
	return m, nil
}

// MemoryOptions are what a memory needs of the world and of the settings.
func MemoryOptions(e *app.Env) (state.Options, error) {
	conf, err := e.Settings()
	if err != nil {
		return state.Options{}, err
	}
	wait, err := LockTimeout(e)
	if err != nil {
		return state.Options{}, err
	}
	caps, err := caps(e)
	if err != nil {
		return state.Options{}, err
	}
	gate, env, err := RedactRules(e, conf)
	if err != nil {
		return state.Options{}, err
	}
	on, err := conf.String("redact.rules")
	if err != nil {
		return state.Options{}, err
	}
	rules := gate
	if on == "off" {
		rules = redact.Rules{}
	}
	cache, err := conf.Size("storage.maxCacheSize")
	if err != nil {
		return state.Options{}, err
	}
	world := world(e)
	if world.Quiet, err = conf.Duration("remote.quiet"); err != nil {
		return state.Options{}, err
	}
	model, err := conf.String("tokens.model")
	return state.Options{
		Now: e.Now, Rand: e.Rand, LockTimeout: max(wait, time.Nanosecond), // 0 would mean the default
		Workers: runtime.GOMAXPROCS(0), Model: model, Caps: caps, Rules: rules, Gate: gate, EnvFiles: env, World: world,
		MaxCache: max(cache, 1),
		Growing: func() {
			if e.Growing != nil {
				e.Growing()
			}
		},
	}, err
}
