package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/state"
)

// boundMemory makes commands collect garbage before it takes more than a few hundred megabytes.
func (e *Env) boundMemory() {
	if e.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(mostMemory)
	}
}

// mostMemory is up to how many bytes garbage is left lying.
const mostMemory = 200 << 20

// spendMemory lets a command that only looks collect less garbage: it is over before that pays.
func spendMemory() { debug.SetGCPercent(800) }

// memory opens the memory that the command works on. The caller closes it.
func (e *Env) memory() (*layers.Memory, error) {
	dir, err := e.memoryDir()
	if err != nil {
		return nil, err
	}
	o, err := e.memoryOptions()
	if err != nil {
		return nil, err
	}
	m, err := layers.Open(dir, o)
	if err != nil {
		return nil, &unreadable{fmt.Errorf("open the memory: %w", err)}
	}
	return m, nil
}

// objectsOnly opens the memory to read objects by their names: that needs no settings, and scripts do it often.
func (e *Env) objectsOnly() (*layers.Memory, error) {
	dir, err := e.memoryDir()
	if err != nil {
		return nil, err
	}
	m, err := layers.OpenObjects(dir, state.Options{Now: e.Now, Rand: e.Rand})
	if err != nil {
		return nil, &unreadable{fmt.Errorf("open the memory: %w", err)}
	}
	return m, nil
}

// memoryOptions are what a memory needs of the world and of the settings.
func (e *Env) memoryOptions() (state.Options, error) {
	conf, err := e.settings()
	if err != nil {
		return state.Options{}, err
	}
	wait, err := e.lockTimeout()
	if err != nil {
		return state.Options{}, err
	}
	caps, err := e.caps()
	if err != nil {
		return state.Options{}, err
	}
	gate, env, err := e.redactRules(conf)
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
	world := e.world()
	if world.Quiet, err = conf.Duration("remote.quiet"); err != nil {
		return state.Options{}, err
	}
	model, err := conf.String("tokens.model")
	return state.Options{
		Now: e.Now, Rand: e.Rand, LockTimeout: max(wait, time.Nanosecond), // 0 would mean the default
		Workers: runtime.GOMAXPROCS(0), Model: model, Caps: caps, Rules: rules, Gate: gate, EnvFiles: env, World: world, MaxCache: max(cache, 1),
		Growing: func() {
			if e.growing != nil {
				e.growing()
			}
		},
	}, err
}
