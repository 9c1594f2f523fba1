package ext2026

import "github.com/taskbridge/taskbridge/internal/wire"

// DiscoverResult is a view of the result of server/discover.
type DiscoverResult struct {
	wire.Object
	// SupportedVersions are the revisions the server speaks; required.
	SupportedVersions []string
	// Capabilities are the server's; required.
	Capabilities ServerCapabilities
	// ServerInfo is the server's Implementation from _meta as received, or
	// absent when it does not say or does not say it well.
	ServerInfo wire.Value
	// Instructions is the member as received: a string, or absent.
	Instructions wire.Value
	// TTLMs is how long the result may be kept, in milliseconds. A member that
	// is missing or no integer reads as 0: not at all.
	TTLMs int64
	// Public is true when the result may be shared between principals.
	Public bool
}

// ParseDiscoverResult reads the result of server/discover. The hints are read
// leniently, everything else strictly. The error is a *[wire.DecodeError].
func ParseDiscoverResult(v wire.Value) (DiscoverResult, error) {
	result, err := ParseResult(MethodServerDiscover, v)
	if err != nil {
		return DiscoverResult{}, err
	}
	out := DiscoverResult{Object: result.Object, ServerInfo: ServerInfo(v), Instructions: result.Get("instructions")}
	versions := result.Get("supportedVersions")
	if versions.Kind() != wire.KindArray {
		return DiscoverResult{}, wire.Wrong("result.supportedVersions", "an array")
	}
	for i, element := range versions.Elements() {
		version, ok := element.Text()
		if !ok {
			return DiscoverResult{}, wire.Wrong(wire.Index("result.supportedVersions", i), "a string")
		}
		out.SupportedVersions = append(out.SupportedVersions, version)
	}
	if out.Capabilities, err = ParseServerCapabilities(result.Get("capabilities"), "result.capabilities"); err != nil {
		return DiscoverResult{}, err
	}
	if out.Instructions.Present() && out.Instructions.Kind() != wire.KindString {
		return DiscoverResult{}, wire.Wrong("result.instructions", "a string")
	}
	out.TTLMs, out.Public = CacheHints(result.Raw())
	return out, nil
}

// Supports reports whether the server speaks version.
func (d *DiscoverResult) Supports(version string) bool {
	for _, supported := range d.SupportedVersions {
		if supported == version {
			return true
		}
	}
	return false
}

// CacheHints returns the hints of a cacheable result: how long it may be kept
// in milliseconds, and whether it may be shared between principals. What is
// missing or malformed reads as 0 and not shared.
func CacheHints(result wire.Value) (ttlMs int64, public bool) {
	ttlMs, ok := result.Get("ttlMs").Int()
	if !ok || ttlMs < 0 {
		ttlMs = 0
	}
	return ttlMs, result.Get("cacheScope") == `"public"`
}
