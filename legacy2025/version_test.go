package legacy2025_test

import (
	"testing"

	"github.com/taskbridge/taskbridge/legacy2025"
)

// A-L2: a known revision is echoed, everything else gets the latest, and a modern
// one is never negotiated.
func TestNegotiate(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"2025-11-25": "2025-11-25", "2025-06-18": "2025-06-18", "2025-03-26": "2025-03-26",
		"2024-11-05": "2025-11-25", "2026-07-28": "2025-11-25", "": "2025-11-25", "DRAFT": "2025-11-25",
	} {
		if got := legacy2025.Negotiate(in); got != want {
			t.Errorf("Negotiate(%q) = %q, want %q", in, got, want)
		}
		if got := legacy2025.Supported(in); got != (in == want) {
			t.Errorf("Supported(%q) = %v", in, got)
		}
	}
	for _, version := range legacy2025.Versions() {
		if !legacy2025.Supported(version) {
			t.Errorf("%s is listed but not supported", version)
		}
	}
	if legacy2025.Versions()[0] != legacy2025.Latest {
		t.Error("the latest revision does not come first")
	}
}

// §3.9: what each revision has.
func TestRevisionFeatures(t *testing.T) {
	t.Parallel()
	features := []struct {
		name string
		has  func(string) bool
		want [4]bool // 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25
	}{
		{"tasks", legacy2025.TaskCapable, [4]bool{false, false, false, true}},
		{"icons", legacy2025.HasIcons, [4]bool{false, false, false, true}},
		{"elicitation modes", legacy2025.HasElicitationModes, [4]bool{false, false, false, true}},
		{"priming", legacy2025.HasPriming, [4]bool{false, false, false, true}},
		{"elicitation", legacy2025.HasElicitation, [4]bool{false, false, true, true}},
		{"structured content", legacy2025.HasStructuredContent, [4]bool{false, false, true, true}},
		{"batches", legacy2025.HasBatches, [4]bool{false, true, false, false}},
	}
	for _, f := range features {
		for i, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
			if got := f.has(version); got != f.want[i] {
				t.Errorf("%s in %s: %v", f.name, version, got)
			}
		}
	}
}
