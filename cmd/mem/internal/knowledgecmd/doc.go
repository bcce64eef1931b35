// Package knowledgecmd has the commands that make and print knowledge of all layers: distill, layers and memory.
package knowledgecmd
