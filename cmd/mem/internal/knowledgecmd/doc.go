// Package knowledgecmd has the commands for facts, concepts and rules.
package knowledgecmd
