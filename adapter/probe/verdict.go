package probe

import (
	"slices"

	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// Era is which protocol a backend speaks.
type Era string

// The eras. Auto is a setting, the others are verdicts too.
const (
	Auto    Era = "auto"
	Modern  Era = "modern"
	Legacy  Era = "legacy"
	Unknown Era = "unknown"
)

// Verdict is what a probe found out.
type Verdict struct {
	// Era is Modern, Legacy or Unknown: a server that speaks neither.
	Era Era
	// Versions are the revisions that the server named, in its order.
	Versions []string
	// Discover is the result of server/discover, or absent when the server gave
	// none.
	Discover wire.Value
	// Reason says in words what the verdict rests on.
	Reason string
}

// version20241105 is the revision of the HTTP+SSE transport. Nothing else of it
// is spoken here.
const version20241105 = "2024-11-05"

var legacyVersions = []string{wire.Version20251125, wire.Version20250618, wire.Version20250326, version20241105}

// judge returns the era of a server that lists these versions.
func judge(versions []string) Era {
	switch {
	case slices.Contains(versions, ext2026.Version):
		return Modern
	case slices.ContainsFunc(versions, func(v string) bool { return slices.Contains(legacyVersions, v) }):
		return Legacy
	default:
		return Unknown
	}
}

// discovered reads a result of server/discover. It returns false when the
// result is none. Nothing but what decides is read: what else is wrong with it
// is for its users to say.
func discovered(result wire.Value) (Verdict, bool) {
	v := Verdict{Discover: result}
	for _, element := range result.Get("supportedVersions").Elements() {
		if version, ok := element.Text(); ok {
			v.Versions = append(v.Versions, version)
		}
	}
	if len(v.Versions) == 0 {
		return Verdict{}, false
	}
	switch v.Era = judge(v.Versions); v.Era {
	case Modern:
		v.Reason = "server/discover lists " + ext2026.Version
		if keepsLegacyTasks(&v) {
			v.Era = Legacy
			v.Reason = "server/discover lists the tasks of " + wire.Version20251125 + " and no tasks extension"
		}
	case Legacy:
		v.Reason = "server/discover lists only revisions before " + ext2026.Version
	default:
		v.Reason = "server/discover lists no revision that is known here"
	}
	return v, true
}

// keepsLegacyTasks reports whether a server of both eras has its tasks only in
// the older one (PROTOCOL.md "Dual-era backends").
func keepsLegacyTasks(v *Verdict) bool {
	capabilities := v.Discover.Get("capabilities")
	extension := capabilities.Get("extensions").Get(wire.TasksExtension)
	return slices.Contains(v.Versions, wire.Version20251125) &&
		capabilities.Get("tasks").IsObject() && !extension.IsObject()
}
