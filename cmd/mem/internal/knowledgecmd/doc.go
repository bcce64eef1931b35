// Package knowledgecmd has the commands for rules, and those about all layers of knowledge.
package knowledgecmd
