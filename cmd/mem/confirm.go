package main

// confirm asks before something is removed. --yes and ui.confirmDestructiveActions=false answer yes. Where
// there is nobody to ask it is an error that names the option.
func (e *Env) confirm(format string, args ...any) (bool, error) {
	conf, err := e.settings()
	if err != nil {
		return false, err
	}
	ask, err := conf.Bool("ui.confirmDestructiveActions")
	if err != nil || !ask || e.opt.yes || e.opt.dryRun {
		return err == nil, err
	}
	return e.ask(format, args...)
}
