package refs

import (
	"path/filepath"

	"github.com/memvcs/mem/refs/lane"
)

// SummedFiles returns the control files in dir that hold JSON with a sum, as paths in the store, with what each
// decodes to.
func SummedFiles(dir string) map[string]any {
	out := map[string]any{lane.DeviceFile: &lane.DeviceJSON{}, remotesFile: &remotesJSON{}}
	for _, name := range notes {
		out[name] = nil
	}
	keys, err := filepath.Glob(filepath.Join(dir, keysDir, "*.json"))
	if err != nil {
		panic("refs: a pattern is malformed: " + err.Error())
	}
	for _, k := range keys {
		out[keysDir+"/"+filepath.Base(k)] = nil
	}
	return out
}

// notes are the control files whose form only a part of mem knows: those that [Repo.WriteNote] writes, and the
// mark of a clone.
var notes = []string{"forgotten.json", "forgetting.json", cloneFile}
