package wire_test

import (
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/internal/wire"
)

// G-16: integers come back as they are, everything else as a plain integer.
func TestFloorAndCeil(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, floor, ceil wire.Value }{
		{"0", "0", "0"},
		{"-0", "0", "0"},
		{"-0.0", "0", "0"},
		{"900000", "900000", "900000"},
		{"12345678901234567890", "12345678901234567890", "12345678901234567890"},
		{"60000.5", "60000", "60001"},
		{"60000.0", "60000", "60000"},
		{"-1.5", "-2", "-1"},
		{"-0.5", "-1", "0"},
		{"1e3", "1000", "1000"},
		{"1.5E+3", "1500", "1500"},
		{"15e-1", "1", "2"},
		{"1e-07", "0", "1"},
		{"9007199254740993.0", "9007199254740993", "9007199254740993"},
		{"1e999999999", "", ""},
		{"1e-999999999", "", ""},
		{"0." + wire.Value(strings.Repeat("1", 500)), "", ""},
		{`"60000"`, "", ""},
		{"null", "", ""},
		{"", "", ""},
	}
	for _, tt := range tests {
		if got, ok := tt.in.Floor(); got != tt.floor || ok != (tt.floor != "") {
			t.Errorf("Floor(%s) = %q, %v, want %q", tt.in, got, ok, tt.floor)
		}
		if got, ok := tt.in.Ceil(); got != tt.ceil || ok != (tt.ceil != "") {
			t.Errorf("Ceil(%s) = %q, %v, want %q", tt.in, got, ok, tt.ceil)
		}
	}
}

func TestInt(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   wire.Value
		want int64
		ok   bool
	}{
		{"-32602", -32602, true},
		{"900000.0", 900000, true},
		{"9e2", 900, true},
		{"9223372036854775807", 9223372036854775807, true},
		{"9223372036854775808", 0, false},
		{"1.5", 0, false},
		{`"1"`, 0, false},
		{"", 0, false},
	}
	for _, tt := range tests {
		if got, ok := tt.in.Int(); ok != tt.ok || ok && got != tt.want {
			t.Errorf("Int(%s) = %d, %v, want %d, %v", tt.in, got, ok, tt.want, tt.ok)
		}
	}
}

func TestIsInteger(t *testing.T) {
	t.Parallel()
	for in, want := range map[wire.Value]bool{
		"0": true, "-7": true, "9007199254740993": true, "1.0": false, "1e2": false, "1E2": false, `"1"`: false, "null": false, "": false,
	} {
		if got := in.IsInteger(); got != want {
			t.Errorf("IsInteger(%s) = %v", in, got)
		}
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b  wire.Value
		order int
		ok    bool
	}{
		{"1", "2", -1, true},
		{"2", "1", 1, true},
		{"42.0", "42", 0, true},
		{"1e2", "100", 0, true},
		{"9007199254740993", "9007199254740992", 1, true},
		{"0.1", "0.10000000000000000001", -1, true},
		{"1e-07", "1E-7", 0, true},
		{"-0", "0", 0, true},
		{"1e999999999", "1", 0, false},
		{"1", "1e999999999", 0, false},
		{`"1"`, "1", 0, false},
		{"", "1", 0, false},
	}
	for _, tt := range tests {
		if order, ok := wire.Compare(tt.a, tt.b); order != tt.order || ok != tt.ok {
			t.Errorf("Compare(%s, %s) = %d, %v, want %d, %v", tt.a, tt.b, order, ok, tt.order, tt.ok)
		}
	}
}
