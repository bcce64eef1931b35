// Package knowledge creates, checks and stores the facts, concepts and rules of a project.
package knowledge
