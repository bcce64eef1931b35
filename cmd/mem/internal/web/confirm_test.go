package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestSelected composes and removes the sessions that are ticked in the list; removing asks first.
func TestSelected(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	p := "/p/" + string(r.project.ID)
	ids := []string{r.ids[0], r.ids[1]}
	a := r.post(p+"/select", url.Values{"do": {"compose"}, "id": ids})
	if to := a.header.Get("Location"); a.status != 303 || to != p+"/compose?part-1="+ids[0]+"&part-2="+ids[1] {
		t.Errorf("compose: %d, %q", a.status, to)
	}
	ids = ids[:1]
	if a := r.post(p+"/select", url.Values{"do": {"remove"}, "id": ids}); a.status != 200 || !strings.Contains(a.body, "Remove 1 session?") {
		t.Errorf("remove asks nothing: %d\n%s", a.status, a.body)
	}
	again := url.Values{"do": {"remove"}, "id": ids}
	if a := r.post(p+"/select?"+again.Encode(), url.Values{"sure": {"1"}}); a.status != 303 {
		t.Errorf("remove: %d\n%s", a.status, a.body)
	}
	list := r.do(http.MethodGet, p+"?view=list", "", nil)
	for _, id := range ids {
		if strings.Contains(list.body, `value="`+id+`"`) {
			t.Errorf("%s is in the list", id)
		}
	}
	if !strings.Contains(list.body, `value="`+r.ids[1]+`"`) {
		t.Errorf("the rest cannot be selected:\n%s", list.body)
	}
	for _, form := range []url.Values{{"do": {"remove"}}, {"do": {"burn"}, "id": {r.ids[1]}}} {
		if a := r.post(p+"/select", form); a.status != 400 {
			t.Errorf("%v: %d", form, a.status)
		}
	}
}
