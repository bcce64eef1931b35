// Package knowledgecmd has the commands about facts, concepts and rules.
package knowledgecmd
