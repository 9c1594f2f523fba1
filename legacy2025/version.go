package legacy2025

import "github.com/taskbridge/taskbridge/internal/wire"

// Latest is the newest revision of the legacy era, and the one this package is
// named after.
const Latest = wire.Version20251125

// Versions returns the revisions a client may negotiate, newest first.
func Versions() []string {
	return []string{wire.Version20251125, wire.Version20250618, wire.Version20250326}
}

// Supported reports whether a client may negotiate version (A-L2).
func Supported(version string) bool {
	switch version {
	case wire.Version20251125, wire.Version20250618, wire.Version20250326:
		return true
	default:
		return false
	}
}

// Negotiate returns the answer to a client that asks for version: the same if
// it is supported, [Latest] for everything else (A-L2).
func Negotiate(version string) string {
	if Supported(version) {
		return version
	}
	return Latest
}

// AtLeast reports whether version is revision or newer. Revisions are dates and
// compare as text.
func AtLeast(version, revision string) bool { return version >= revision }

// TaskCapable reports whether the revision has tasks.
func TaskCapable(version string) bool { return version == wire.Version20251125 }

// HasIcons reports whether the revision has icons, and description and
// websiteUrl in an Implementation (§3.9).
func HasIcons(version string) bool { return AtLeast(version, wire.Version20251125) }

// HasElicitationModes reports whether the revision tells form from url
// elicitation and has tools in sampling.
func HasElicitationModes(version string) bool { return AtLeast(version, wire.Version20251125) }

// HasElicitation reports whether the revision has elicitation at all.
func HasElicitation(version string) bool { return AtLeast(version, wire.Version20250618) }

// HasStructuredContent reports whether the revision has structuredContent,
// outputSchema, resource links, titles, _meta on objects and completion
// contexts (§3.9).
func HasStructuredContent(version string) bool { return AtLeast(version, wire.Version20250618) }

// HasBatches reports whether the revision has JSON-RPC batches.
func HasBatches(version string) bool { return version == wire.Version20250326 }

// HasPriming reports whether event streams may start with an empty event (A-L15).
func HasPriming(version string) bool { return AtLeast(version, wire.Version20251125) }
