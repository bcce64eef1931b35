// Package knowledgecmd has the commands for facts and rules, and those about all layers.
package knowledgecmd
