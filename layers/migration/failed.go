package migration

// failure is the reason of a [Failed] item. The error itself is reported once.
const failure = "not stored: an error of the memory ended the import"

// recordFailed records the entries of projects without an item among those from first on, after an error of the memory.
func (r *importer) recordFailed(projects []Project, first int) {
	for _, p := range projects {
		w := &projectImport{importer: r, p: p}
		w.recordMissing(r.report.Items[first:])
		first = len(r.report.Items)
	}
}

// recordMissing records the entries of the project that are not in items.
func (w *projectImport) recordMissing(items []Item) {
	status := map[[2]string]string{}
	for _, it := range items {
		status[[2]string{it.Kind, it.Name}] = it.Status
	}
	fail := func(kind, name string) {
		if status[[2]string{kind, name}] == "" {
			w.record(Item{Status: Failed, Kind: kind, Name: name, Why: failure})
		}
	}
	for _, s := range w.p.Sessions {
		h := &target{Session: s}
		fail("session", h.name())
		if was := status[[2]string{"session", h.name()}]; was == NotMapped || was == Conflict {
			continue // so its parts are not imported either
		}
		if s.Title != "" {
			fail("title", h.name()+" "+s.Title)
		}
		for _, tag := range s.Tags {
			fail("tag", h.name()+" "+tag)
		}
		for _, k := range s.Markers {
			fail("marker", markerName(h, k))
		}
		for _, v := range s.Versions {
			fail("version", h.name()+" "+v.ID)
		}
	}
	for _, c := range w.p.Compositions {
		fail("composition", c.Name)
	}
	for _, f := range w.p.Facts {
		fail("fact", f.ID)
	}
	for _, c := range w.p.Concepts {
		fail("concept", c.ID+" "+c.Name)
	}
	for _, x := range w.p.Rules {
		fail("rule", x.ID)
	}
}
