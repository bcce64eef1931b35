package app

// HiddenText returns text, with the reason if it is hidden.
func HiddenText(text, why string) string {
	if why == "" {
		return text
	}
	return text + " (hidden: " + why + ")"
}
