package sized_test

import (
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/internal/sized"
)

func TestCache(t *testing.T) {
	t.Parallel()
	c, err := sized.New[string](3, 10, func(s string) int { return len(s) })
	if err != nil {
		t.Fatal(err)
	}
	want := func(keys string) {
		t.Helper()
		for _, key := range strings.Split("abcde", "") {
			if _, ok := c.Get(key); ok != strings.Contains(keys, key) {
				t.Errorf("%s is there: %v, want %q", key, ok, keys)
			}
		}
	}
	c.Add("a", "1234")
	c.Add("b", "1234")
	want("ab")
	c.Add("a", "12") // in place of the other
	c.Add("c", "1234")
	want("abc")
	c.Add("d", "") // one too many: a was used before the others
	want("bcd")
	c.Add("b", "12345")
	if v, _ := c.Get("b"); v != "12345" {
		t.Errorf("b is %q", v)
	}
	c.Add("e", "1234567890")
	want("e")
	c.Add("e", "12345678901") // more than all may be
	want("")
	c.Add("a", "1234567890")
	if !c.Remove("a") || c.Remove("a") {
		t.Error("removed what is not there")
	}
	c.Add("b", "1234567890") // what is gone takes no room
	want("b")
	c.Purge()
	c.Add("c", "1234567890")
	want("c")
	if _, err := sized.New[string](0, 1, func(string) int { return 0 }); err == nil {
		t.Error("a cache of nothing")
	}
}
