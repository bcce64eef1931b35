package compress

import "strings"

var (
	// chosen matches what names an option, an item or a question by its number or letter.
	chosen = pattern(`(?i:\b(?:options?|approach|choice|number|no\.|items?|steps?|points?|alternative|variant|scenario)[ ]+#?)([A-F]|\d{1,2})\b`)
	// short matches a number or a letter in a short reply.
	short = pattern(`(?:^|[\s(,#])(\d|[B-F]|A(?:$|[.,)]))(?:$|[\s.,):&+])`)
	// numbered matches an item of a list in the middle of what somebody says of it.
	numbered = pattern(`\S[ ]+(\d)[.)]\s+\S`)
	// ordinal matches a choice by its place.
	ordinal = pattern(`(?i)\b(the (first|second|third|fourth|last|former|latter)( one)?\b|both\b|all (of (them|these|those)|three|four)\b|neither\b|either\b)`)
	// option matches the beginning of something that can be chosen.
	option = pattern(`^\s*(?:[-*+•]\s+|#+\s+)?\**(?:(?:Option|Approach|Choice|Alternative|Variant|Scenario|Step|Question|Phase)\s+([A-F]|\d{1,2})\b|([A-F]|\d{1,2})[.):])`)
)

const (
	shortChoice = 80 // bytes up to which a single letter or number is a choice
	longChoice  = 400
	mostOptions = 8
)

// choice returns the numbers and letters that a text of the user chooses, and whether it chooses at all.
func choice(text string) (names []string, ok bool) {
	if len(text) > longChoice {
		text = text[:longChoice]
	}
	add := func(list [][]string) {
		for _, m := range list {
			names = append(names, strings.ToUpper(strings.TrimRight(m[1], ".,)")))
		}
	}
	add(chosen().FindAllStringSubmatch(text, -1))
	if len(text) <= shortChoice {
		add(short().FindAllStringSubmatch(text, -1))
	}
	add(numbered().FindAllStringSubmatch(text, -1))
	return names, len(names) > 0 || len(text) <= shortChoice && ordinal().MatchString(text)
}

// answered returns the units of the options that an item of the user chooses from, in order: of the last text of the
// assistant before it that offers them.
func (o *order) answered(item int32, from []int32) []int32 {
	names, ok := choice(o.items[item].Text)
	if !ok {
		return nil
	}
	const back = 12 // texts of the assistant
	seen := 0
	for k := item - 1; k >= 0 && seen < back; k-- {
		it := &o.items[k]
		if it.Kind != Assistant {
			continue
		}
		seen++
		list, known := o.options(k, from)
		if len(list) < 2 {
			continue
		}
		if len(names) == 0 {
			return list
		}
		for _, name := range names {
			if known[name] {
				return list
			}
		}
	}
	return nil
}

// options returns the units with which the options in an item begin, and their names. An option that is a heading goes
// with the sentence after it.
func (o *order) options(item int32, from []int32) (list []int32, names map[string]bool) {
	names = map[string]bool{}
	for i := from[item]; i >= 0 && int(i) < len(o.units) && o.units[i].item == item; i++ {
		u := &o.units[i]
		if u.at > 0 {
			continue
		}
		m := option().FindStringSubmatch(u.text)
		if m == nil {
			continue
		}
		name := strings.ToUpper(m[1] + m[2])
		if len(names) == mostOptions || names[name] {
			if name == "1" || name == "A" { // another list: the last one counts
				list, names = nil, map[string]bool{}
			} else {
				continue
			}
		}
		names[name] = true
		list = append(list, i)
		if k := i + 1; u.flags&lead != 0 && int(k) < len(o.units) && o.units[k].item == item {
			list = append(list, k)
		}
	}
	return list, names
}
