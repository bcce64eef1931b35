package projects

import (
	"os"
	"runtime"
	"testing"
)

func fileExists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// TestPortablePath holds that the spellings of a directory are one.
func TestPortablePath(t *testing.T) {
	t.Parallel()
	for want, spellings := range map[string][]string{
		"c:/src/my shop": {`C:\src\my shop`, `c:\src\my shop`, `C:/src/my shop`, `c:\Src\My Shop\`, `\\?\C:\src\my shop`, "/mnt/c/src/my shop",
			"/mnt/c/Src/my shop/", "/cygdrive/c/src/my shop", `C:\src\other\..\my shop`, `//?/C:/src/my shop`},
		"c:/":                {`C:\`, "c:/", "/mnt/c", "/mnt/c/", "C:"},
		"/home/me/shop":      {"/home/me/shop", `\\wsl$\Ubuntu\home\me\shop`, `\\wsl.localhost\Debian\home\me\shop`, "//wsl.localhost/Ubuntu-24.04/home/me/shop", `\\WSL$\Ubuntu\home\me\shop`},
		"//files/share/shop": {`\\files\share\shop`, `\\FILES\Share\shop\`, "//files/share/shop", `\\?\UNC\files\share\shop`},
		"/mnt/cache/shop":    {"/mnt/cache/shop"},
		"/home/me/a\\b":      {`/home/me/a\b`},
		"/home/me/C:/x":      {"/home/me/C:/x"},
		"/c/src":             {"/c/src"},
	} {
		for _, s := range spellings {
			if got := portablePath(s); got != want {
				t.Errorf("portablePath(%q) = %q, want %q", s, got, want)
			}
		}
	}
}

func FuzzPortablePath(f *testing.F) {
	for _, s := range []string{`C:\a\..\b`, "/mnt/c/x", `\\wsl$\U\mnt\c`, `\\?\UNC\a\b`, "//", "c:", `\\?\`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p := portablePath(s)
		if again := portablePath(p); again != p {
			t.Errorf("portablePath(%q) = %q, and of that %q", s, p, again)
		}
	})
}

// TestSpellings holds that a session of Windows is in the project of the directory that this system has for it.
func TestSpellings(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	locate := func(f *Finder, dir string) string {
		p, _ := f.Locate(t.Context(), dir)
		return string(p.ID)
	}
	f := m.finder()
	drive := locate(f, `D:\nowhere\shop`)
	for _, dir := range []string{`d:\nowhere\shop`, "D:/nowhere/shop", "/mnt/d/nowhere/shop", `\\?\D:\nowhere\shop`} {
		if got := locate(m.finder(), dir); got != drive {
			t.Errorf("%s is %s, want %s", dir, got, drive)
		}
	}
	p, _ := f.Locate(t.Context(), `D:\nowhere\shop`)
	if p.Name != "shop" {
		t.Errorf("it is called %q", p.Name)
	}
	k := m.finder(known(p, `D:\nowhere\shop`))
	for _, dir := range []string{"/mnt/d/nowhere/shop", "/mnt/d/nowhere/shop/sub", `d:\Nowhere\shop\sub`} {
		if got, found := k.Locate(t.Context(), dir); got != p || !found {
			t.Errorf("%s is %+v, %v", dir, got, found)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	m.repo("shop")
	want := m.locate("shop")
	unc := `\\wsl.localhost\Ubuntu` + m.path("shop")
	if got, _ := m.finder().Locate(t.Context(), unc); got != want {
		t.Errorf("%s is %+v, want %+v", unc, got, want)
	}
}
