package app

// A Palette adds SGR colours to text, or returns it unchanged if colour is off.
type Palette struct{ on bool }

func (p Palette) sgr(code, s string) string {
	if !p.on || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p Palette) Bold(s string) string   { return p.sgr("1", s) }
func (p Palette) Dim(s string) string    { return p.sgr("2", s) }
func (p Palette) Red(s string) string    { return p.sgr("31", s) }
func (p Palette) Green(s string) string  { return p.sgr("32", s) }
func (p Palette) Yellow(s string) string { return p.sgr("33", s) }
func (p Palette) Cyan(s string) string   { return p.sgr("36", s) }

// Style returns the palette for stdout.
func (e *Env) Style() Palette {
	if e.Paint == nil {
		e.Paint = &Palette{on: e.colored(e.Term.Stdout)}
	}
	return *e.Paint
}

// StderrStyle returns the palette for stderr.
func (e *Env) StderrStyle() Palette { return Palette{on: e.colored(e.Term.Stderr)} }

func (e *Env) colored(tty bool) bool {
	ui := "auto"
	if conf, err := e.Settings(); err == nil { // else the command that needs the settings reports it
		ui = conf.String("color.ui")
	}
	return Colored(e.Opt.Color, ui, e.Getenv, tty)
}

// Colored reports whether to use colour. The first that decides wins: the option, NO_COLOR, CLICOLOR_FORCE or
// FORCE_COLOR, the setting color.ui, CLICOLOR=0, and whether the output is a capable terminal.
func Colored(option, ui string, getenv func(string) string, tty bool) bool {
	capable := tty && getenv("TERM") != "dumb"
	switch {
	case option == "always":
		return true
	case option == "never":
		return false
	case option == "auto":
		return capable
	case getenv("NO_COLOR") != "":
		return false
	case set(getenv("CLICOLOR_FORCE")), set(getenv("FORCE_COLOR")):
		return true
	case ui == "always":
		return true
	case ui == "never", getenv("CLICOLOR") == "0":
		return false
	}
	return capable
}

func set(v string) bool { return v != "" && v != "0" && v != "false" }
