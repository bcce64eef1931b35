package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// A row is one line of the table: what was measured against what, and what is demanded.
type row struct {
	Bar    string   `json:"bar"`               // the group's name on the command line
	What   string   `json:"what"`              // the line in words
	Corpus string   `json:"corpus,omitempty"`  // what was stored
	Value  float64  `json:"value"`             // the ratio, or the figure itself
	Unit   string   `json:"unit"`              // "x" for a ratio
	Demand *float64 `json:"demand,omitempty"`  // nil: no bar, only stated
	Least  bool     `json:"at_least"`          // Demand is a lower bound
	Detail string   `json:"detail,omitempty"`  // the absolute figures behind Value
	Skip   string   `json:"skipped,omitempty"` // why there is no figure
}

// ok reports whether the row reaches what is demanded.
func (r row) ok() bool {
	switch {
	case r.Skip != "":
		return false
	case r.Demand == nil:
		return true
	case r.Least:
		return r.Value >= *r.Demand
	}
	return r.Value <= *r.Demand
}

func (r row) verdict() string {
	switch {
	case r.Skip != "":
		return "SKIPPED"
	case r.Demand == nil:
		return "stated"
	case r.ok():
		return "ok"
	}
	return "MISS"
}

func (r row) demand() string {
	if r.Demand == nil {
		return "-"
	}
	sign := "<="
	if r.Least {
		sign = ">="
	}
	return fmt.Sprintf("%s %s", sign, figure(*r.Demand, r.Unit))
}

func figure(v float64, unit string) string {
	digits := 2
	if v >= 100 || unit == "" {
		digits = 0
	}
	s := fmt.Sprintf("%.*f", digits, v)
	if unit == "x" || unit == "" {
		return s
	}
	return s + " " + unit
}

// atMost and atLeast are the two kinds of demand.
func atMost(v float64) (d *float64, least bool)  { return &v, false }
func atLeast(v float64) (d *float64, least bool) { return &v, true }

// ratio makes the row "a against b": the quotient of the two medians.
func ratio(bar, what, corpus string, a, b *probe, d *float64, least bool) row {
	return row{
		Bar: bar, What: what, Corpus: corpus, Unit: "x", Demand: d, Least: least,
		Value:  a.median() / b.median(),
		Detail: fmt.Sprintf("%v, %v", a, b),
	}
}

// report prints the table as Markdown, or everything as one JSON object.
func report(w io.Writer, rows []row, runs int, command string, asJSON bool) error {
	about := struct {
		Schema  string `json:"schema"`
		Date    string `json:"date"`
		Command string `json:"command"`
		Machine string `json:"machine"`
		Runs    int    `json:"runs"`
		Rows    []row  `json:"rows"`
	}{"mem.bench/v1", time.Now().UTC().Format(time.DateOnly), command, machine(), runs, rows}
	if asJSON {
		return json.NewEncoder(w).Encode(about)
	}
	fmt.Fprintf(w, "%s, `%s`, %s, medians of %d interleaved rounds\n\n", about.Date, command, about.Machine, runs)
	fmt.Fprintln(w, "| bar | corpus | measured | demanded | | absolute |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|")
	for _, r := range rows {
		value, detail := figure(r.Value, r.Unit), r.Detail
		if r.Skip != "" {
			value, detail = "-", r.Skip
		}
		_, err := fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s |\n", r.What, r.Corpus, value, r.demand(), r.verdict(), detail)
		if err != nil {
			return err
		}
	}
	return nil
}

// machine names the tools that the ratios depend on.
func machine() string {
	var have []string
	for _, argv := range [][]string{{"go", "env", "GOVERSION"}, {"git", "--version"}, {"zstd", "--version"}, {"restic", "version"}, {"nproc"}} {
		out, err := exec.Command(argv[0], argv[1:]...).Output()
		if err != nil {
			continue // the bars that need the tool say so
		}
		have = append(have, short(argv[0], string(out)))
	}
	return strings.Join(have, ", ")
}

func short(tool, out string) string {
	out, _, _ = strings.Cut(strings.TrimSpace(out), "\n")
	switch tool {
	case "nproc":
		return out + " cores"
	case "zstd":
		_, v, _ := strings.Cut(out, " v")
		v, _, _ = strings.Cut(v, ",")
		return "zstd " + v
	case "restic":
		f := strings.Fields(out)
		return strings.Join(f[:min(2, len(f))], " ")
	}
	return strings.Replace(out, "git version", "git", 1)
}
