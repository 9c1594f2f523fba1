package adapter_test

// The modes in which conversations are spread over processes.
const (
	inTurn   = "in turn"
	atRandom = "at random"
	rolling  = "rolling"
)

// Why a conversation differs with several processes, each of which the protocol or
// DESIGN.md allows.
const (
	ownSessions = "PROTOCOL §5.2: each process has sessions of its own at a legacy server, and so ends, " +
		"fills and loses them by itself, and hears by itself what is said there"
	ownLook = "PROTOCOL §4.24, A-T21: each process that serves a client asks for itself about a task, " +
		"at most once per poll interval"
	ownTools = "PROTOCOL §5.1: a process learns by itself what a server has said of itself, its tools and what it wants " +
		"(one extra round trip), and this one says something else by then, or fails"
	// Whether this shows is a matter of chance.
	ownJitter = "the pauses of processes differ, and the conversation is between two of them"
	// This, too.
	brokenOff = "a client that still writes what is refused may see the connection break before it reads the refusal"
	heldThere = "B-P11, B-U11: a call that was parked, and the outcome of a round, are gone with their process: -32602"
	notAgain  = "PROTOCOL §5.1, listen stream: a new home follows a session's tasks once it is asked about them"
)

// exceptions are the conversations that several processes cannot have as one does, by
// name. One that passes must not be here, unless it is by chance.
var exceptions = map[string]exception{
	"B50-listen-tasks":            {ownLook, []string{inTurn, atRandom, rolling}},
	"b-get-coalesced":             {ownLook, []string{inTurn, atRandom, rolling}},
	"b-get-regresses":             {ownLook, []string{inTurn, atRandom, rolling}},
	"b-listen-changes":            {ownLook, []string{inTurn, atRandom, rolling}},
	"b-listen-foreign":            {ownLook, []string{inTurn, atRandom, rolling}},
	"b-listen-polls":              {ownLook, []string{inTurn, rolling}},
	"b-pump-forgotten":            {ownLook, []string{inTurn, atRandom, rolling}},
	"b-update-retried":            {ownLook, []string{inTurn, rolling}},
	"fast-polls":                  {ownLook, []string{rolling}},
	"list-slow":                   {ownLook, []string{rolling}},
	"task-question-waits":         {ownLook, []string{rolling}},
	"b-questions-ambiguous":       {ownSessions, []string{inTurn, atRandom, rolling}},
	"b-roots-early":               {ownSessions, []string{inTurn, rolling}},
	"b-roots-no-task":             {ownSessions, []string{rolling}},
	"b-session-lost-400":          {ownSessions, []string{atRandom}},
	"b-stream-idle-ends":          {ownSessions, []string{inTurn, atRandom, rolling}},
	"b-task-pinned":               {ownSessions, []string{rolling}},
	"A05-session-errors":          {ownTools, []string{inTurn, rolling}},
	"A14-capability-insisted":     {ownTools, []string{rolling}},
	"b-task-tools":                {ownTools, []string{inTurn, rolling}},
	"older-2025-03-26":            {ownTools, []string{rolling}},
	"older-2025-06-18":            {ownTools, []string{rolling}},
	"probe":                       {ownTools, []string{rolling}},
	"tools-changed":               {ownTools, []string{rolling}},
	"task-question-update-fails":  {ownJitter, []string{inTurn, atRandom, rolling}},
	"url-repeated-task":           {ownJitter, []string{inTurn, atRandom, rolling}},
	"too-large":                   {brokenOff, []string{inTurn, atRandom, rolling}},
	"b-park-backend-gone":         {heldThere, []string{rolling}},
	"b-park-server-ends":          {heldThere, []string{rolling}},
	"b-urls-spent":                {heldThere, []string{rolling}},
	"question-own-stream-missing": {notAgain, []string{rolling}},
}
