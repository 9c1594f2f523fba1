package fix

import (
	"reflect"
	"testing"
)

func TestFix(t *testing.T) {
	for member, want := range map[string]string{"ttl": "ttlMs", "poll": "pollMs", "interval": "pollMs"} {
		if got, err := names(member); got != want || err != nil {
			t.Fatal(member, got, err)
		}
	}
	if _, err := names("x"); err == nil {
		t.Fatal("no error")
	}
	if kind("a") != 1 || kind("b") != 2 || kind("c") != 0 {
		t.Fatal("kind")
	}
	if level(1) != "low" || level(2) != "high" || level(3) != "none" {
		t.Fatal("level")
	}
	for o, want := range map[options]string{
		{name: "n", level: 2, limit: 7}: "a70n2.",
		{name: "n"}:                     "a00.",
		{level: 1}:                      "a00.",
	} {
		if got := string(write(o)); got != want {
			t.Fatal(got, want)
		}
	}
	if got := defaults(); got.name != "n" || got.kind != "b" {
		t.Fatal(got)
	}
	if notes(true) != 6 || notes(false) != 0 {
		t.Fatal("notes")
	}
	if joined() != "xy" || count(3) != 3 || equivalent(2) != 2 || equivalent(-2) != -2 {
		t.Fatal("numbers")
	}
	if !reflect.DeepEqual(known, []string{"one", "two"}) || rows[KindA] != Low || rows["b"] != 2 {
		t.Fatal("tables")
	}
	if table[0] != "zero" {
		t.Fatal("table")
	}
}
