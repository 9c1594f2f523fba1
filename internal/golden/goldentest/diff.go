package goldentest

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/google/go-cmp/cmp"
)

// diff shows how two different bodies differ. JSON is laid out one member a
// line first, since goldens hold whole messages on one; where only that layout
// hides the difference, the first differing bytes are shown as they are.
func diff(want, got []byte) string {
	w, wantJSON := indent(want)
	g, gotJSON := indent(got)
	if !wantJSON || !gotJSON {
		w, g = string(want), string(got)
	}
	if w != g {
		return cmp.Diff(w, g)
	}
	at := 0
	for at < len(want) && at < len(got) && want[at] == got[at] {
		at++
	}
	return fmt.Sprintf("the same but for white space, at byte %d:\n- %q\n+ %q", at, around(want, at), around(got, at))
}

func indent(b []byte) (string, bool) {
	var out bytes.Buffer
	if err := json.Indent(&out, b, "", "  "); err != nil {
		return "", false
	}
	return out.String(), true
}

func around(b []byte, at int) []byte {
	const context = 20
	return b[max(0, at-context):min(len(b), at+context)]
}
