package projects

import (
	"testing"

	"github.com/memvcs/mem/layers/records"
)

// TestPortablePath holds that the spellings of a directory are one.
func TestPortablePath(t *testing.T) {
	t.Parallel()
	for want, spellings := range map[string][]string{
		"c:/src/my shop":     {`C:\src\my shop`, `c:\src\my shop`, `C:/src/my shop`, `c:\Src\My Shop\`, `C:\src\other\..\my shop`},
		"c:/":                {`C:\`, "c:/", "C:"},
		"//files/share/shop": {`\\files\share\shop`, `\\FILES\Share\shop\`, "//files/share/shop"},
		"/home/me/shop":      {"/home/me/shop"},
		"/home/me/a\\b":      {`/home/me/a\b`},
		"/home/me/C:/x":      {"/home/me/C:/x"},
	} {
		for _, s := range spellings {
			if got := portablePath(s); got != want {
				t.Errorf("portablePath(%q) = %q, want %q", s, got, want)
			}
		}
	}
}

func FuzzPortablePath(f *testing.F) {
	for _, s := range []string{`C:\a\..\b`, `\\U\mnt\c`, "//", "c:", `\\?\`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p := portablePath(s)
		if again := portablePath(p); again != p {
			t.Errorf("portablePath(%q) = %q, and of that %q", s, p, again)
		}
	})
}

// TestSpellings holds that a session of Windows is in the project of its directory, however that is spelled.
func TestSpellings(t *testing.T) {
	t.Parallel()
	p, _ := NewFinder(nil, nil).Locate(t.Context(), `D:\nowhere\shop`)
	if p.Name != "shop" {
		t.Errorf("it is called %q", p.Name)
	}
	f := NewFinder([]records.PathBody{known(p, `D:\nowhere\shop`)}, nil)
	for _, dir := range []string{`d:\nowhere\shop`, "D:/nowhere/shop"} {
		if got, _ := NewFinder(nil, nil).Locate(t.Context(), dir); got.ID != p.ID {
			t.Errorf("%s is %+v, want %+v", dir, got, p)
		}
		if got, found := f.Locate(t.Context(), dir); got != p || !found {
			t.Errorf("%s is %+v, %v", dir, got, found)
		}
	}
}
