package app

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/state"
)

// BoundMemory sets a soft limit on the heap, unless GOMEMLIMIT does.
func BoundMemory(e *Env) {
	if e.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(mostMemory)
	}
}

// mostMemory is the soft limit in bytes.
const mostMemory = 200 << 20

// SpendMemory makes garbage collections rare, for a command that only reads and ends soon.
func SpendMemory() { debug.SetGCPercent(800) }

// RelaxGC is a weaker [SpendMemory], for a command that may have to build an index first.
func RelaxGC() { debug.SetGCPercent(200) }

// OpenMemory opens the memory that the command works on. The caller closes it.
func OpenMemory(e *Env) (*layers.Memory, error) {
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
		return nil, &Unreadable{Err: fmt.Errorf("open the memory: %w", err)}
	}
	return m, nil
}

// OpenObjects opens the memory for reading objects by hash. It reads no settings, so it is fast in scripts.
func OpenObjects(e *Env) (*layers.Memory, error) {
	dir, err := e.MemoryDir()
	if err != nil {
		return nil, err
	}
	m, err := layers.OpenObjects(dir, state.Options{Now: e.Now, Rand: e.Rand})
	if err != nil {
		return nil, &Unreadable{Err: fmt.Errorf("open the memory: %w", err)}
	}
	return m, nil
}

// MemoryOptions returns the options to open a memory with, from the environment and the settings.
func MemoryOptions(e *Env) (state.Options, error) {
	conf, err := e.Settings()
	if err != nil {
		return state.Options{}, err
	}
	wait, err := LockTimeout(e)
	if err != nil {
		return state.Options{}, err
	}
	caps, err := caps(conf)
	if err != nil {
		return state.Options{}, err
	}
	gate, err := RedactRules(e, conf)
	if err != nil {
		return state.Options{}, err
	}
	rules := gate
	if conf.String("redact.rules") == "off" {
		rules = redact.Rules{}
	}
	world := world(e)
	world.Quiet = conf.Duration("remote.quiet")
	return state.Options{
		Now: e.Now, Rand: e.Rand, LockTimeout: max(wait, time.Nanosecond), // 0 would mean the default
		Workers: runtime.GOMAXPROCS(0), Model: conf.String("tokens.model"), Caps: caps, Rules: rules, Gate: gate, EnvFiles: conf.Bool("redact.environment"), World: world,
		MaxCache: max(conf.Size("storage.maxCacheSize"), 1),
		Growing: func() {
			if e.Growing != nil {
				e.Growing()
			}
		},
	}, nil
}
