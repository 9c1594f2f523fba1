package odd

import "testing"

func TestOdd(t *testing.T) {
	if named(true) != 1 || named(false) != 0 {
		t.Fatal("named")
	}
	if len(nested) != 2 || len(nested[0])+len(nested[1]) != 2 {
		t.Fatal("nested")
	}
	if forever(0) != 0 || forever(3) != 3 {
		t.Fatal("forever")
	}
}
