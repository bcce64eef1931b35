package layerstest

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/memvcs/mem/layers/answers"
	"github.com/memvcs/mem/layers/engines"
)

// Supported is the answer of a model that stands by every line that it wrote, "" if the question is another one.
func Supported(q engines.Question) string {
	var list []string
	for _, m := range regexp.MustCompile(`(?m)^(s:[0-9]+) summary: `).FindAllStringSubmatch(q.Prompt, -1) {
		list = append(list, fmt.Sprintf(`{"id":%q,"answer":%q,"text":"","why":""}`, m[1], answers.Supported))
	}
	if list == nil {
		return ""
	}
	return `{"answers":[` + strings.Join(list, ",") + `]}`
}
