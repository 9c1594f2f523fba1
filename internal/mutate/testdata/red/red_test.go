package red

import "testing"

func TestRed(t *testing.T) {
	if one() != 2 {
		t.Fatal("never right")
	}
}
