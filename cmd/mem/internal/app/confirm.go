package app

// Confirm asks before something is removed. --yes and ui.confirmDestructiveActions=false answer yes. Where
// no terminal to ask on it is an error that names the option.
func (e *Env) Confirm(format string, args ...any) (bool, error) {
	conf, err := e.Settings()
	if err != nil {
		return false, err
	}
	ask, err := conf.Bool("ui.confirmDestructiveActions")
	if err != nil || !ask || e.Opt.Yes || e.Opt.DryRun {
		return err == nil, err
	}
	return e.Ask(format, args...)
}
