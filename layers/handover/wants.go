package handover

import (
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/brief"
)

// wantsTitle is the title of the words of the user.
const wantsTitle = "What the user wants, in their words"

// maxWantsShown is the number of wants of the user that are listed.
const maxWantsShown = 5

// wantItems returns all that the user corrected, chose, refused and asked for from then on, the newest first.
func wantItems(digests []Digest) (out []brief.Item) {
	for _, d := range digests[:min(len(digests), ageSessions)] {
		list := slices.Clone(d.Wants)
		for _, s := range d.Lasting {
			list = append(list, Want{Said: s})
		}
		slices.SortStableFunc(list, func(a, b Want) int { return b.N - a.N })
		for _, w := range list[:min(len(list), maxActions-len(out))] {
			out = append(out, brief.Item{Text: w.text(showWant), Source: citing(d.Session, w.source()),
				Trust: brief.User, Time: d.Last, Why: "a correction, a choice or a refusal"})
		}
	}
	return out
}

// wants lists what the user said of how to work, the newest first, without what is shown already. What he asked, chose and
// corrected is done, or stands where its session stands.
func wants(digests []Digest, shown []brief.Item) (out []brief.Item) {
	for _, d := range digests[:min(len(digests), ageSessions)] {
		for _, w := range slices.Backward(d.Lasting) {
			if len(out) < maxWantsShown && !slices.ContainsFunc(shown, func(it brief.Item) bool { return strings.Contains(it.Text, w.Text) }) {
				out = append(out, brief.Item{Text: quoted(w.Text, showWant), Source: citing(d.Session, w.source()), Trust: brief.User,
					Time: d.Last, Why: "the user says for which cases it holds"})
			}
		}
	}
	return out
}

// text returns what the user did and said.
func (w Want) text(most int) string {
	switch {
	case w.To != "":
		return w.Lead + " " + quoted(w.Text, most) + " to " + quoted(w.To, most)
	case w.Lead != "":
		return w.Lead + ": " + quoted(w.Text, most)
	}
	return quoted(w.Text, most)
}
