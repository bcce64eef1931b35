// Package knowledgecmd has the commands about facts, concepts and rules: facts, concepts, rules, reflect, distill, layers and
// memory.
package knowledgecmd
