// Package compress makes versions: a session in fewer tokens.
//
// [Run] carries out a plan (package planning). Kept texts of markers go around every engine and are put back byte for byte.
//
// The engine without a model, [Extract], writes a digest of exchanges (package exchange): under a heading, the request
// as it was typed, what was said, answers and refusals, failures, files and commands, in the order of the session. A
// line of a version is one unbroken piece of a line of the session, whole sentences of it joined by " … ", or a list
// with a mark such as [files]. No word is removed from within a sentence. What is said comes before code, which appears
// only as whole changes in code blocks; of a failure there is the line that tells most.
//
// The engine orders everything that a version could say: first a short line of each exchange with what was asked and what
// came of it, then the rest of these lines and the first answers to questions, then what long replies choose from, and
// then by value: reasons, decisions and problems before the narration of steps, later exchanges before earlier ones. The
// items of a list that are left out are named. The order does not depend on the budget, so that a version is a beginning
// of it: a larger budget keeps all that a smaller one says.
//
// Long blocks of code, the announcements of steps and what praises the work come last; of a long paste there is the beginning and
// what tells of an error. When everything was said, code follows, up to a third of the version. At the aggressive level there are no
// announcements, no reports of agents and no changed lines, and of a plan its beginning and the names of its parts, unless there is much
// room. A version is smaller than its budget when there is nothing left that is worth reading.
package compress
