// Package knowledgecmd has the commands about what is known: facts, concepts, rules, reflect, distill, layers and memory, and
// the notes that Claude Code writes itself.
package knowledgecmd
