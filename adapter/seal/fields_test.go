package seal_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/seal"
)

func TestFields(t *testing.T) {
	t.Parallel()
	ints := []int64{0, 1, -1, 63, 64, 1_790_000_000_123, math.MaxInt64, math.MinInt64}
	texts := []string{"", "a", "\x00\xff", strings.Repeat("x", 300)}
	var f seal.Fields
	for _, n := range ints {
		f.Int(n)
	}
	for _, s := range texts {
		f.String(s)
	}
	r := seal.ReadFields(f.Bytes())
	for _, want := range ints {
		if got := r.Int(); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	}
	for _, want := range texts {
		if got := r.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if err := r.Done(); err != nil {
		t.Errorf("done: %v", err)
	}
}

func TestFieldsMustBeReadToTheEndAndNotBeyond(t *testing.T) {
	t.Parallel()
	var f seal.Fields
	f.Int(300)
	f.String("text")
	payload := f.Bytes()
	read := func(payload []byte) error {
		r := seal.ReadFields(payload)
		_, _ = r.Int(), r.String()
		return r.Done()
	}
	if err := read(payload); err != nil {
		t.Fatalf("the payload itself: %v", err)
	}
	for i := range payload {
		if err := read(payload[:i]); !errors.Is(err, seal.ErrInvalid) {
			t.Errorf("cut to %d bytes: got error %v, want %v", i, err, seal.ErrInvalid)
		}
	}
	if err := read(append(payload, 0)); !errors.Is(err, seal.ErrInvalid) {
		t.Errorf("trailing byte: got error %v, want %v", err, seal.ErrInvalid)
	}
	huge := []byte{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 'x'}
	if err := read(huge); !errors.Is(err, seal.ErrInvalid) {
		t.Errorf("a length beyond the payload: got error %v, want %v", err, seal.ErrInvalid)
	}
}

func TestAfterAFailureFieldsAreZero(t *testing.T) {
	t.Parallel()
	// The string claims more than there is; what follows would be readable.
	r := seal.ReadFields([]byte{9, 2, 2, 2})
	if s, n := r.String(), r.Int(); s != "" || n != 0 {
		t.Errorf("got %q and %d", s, n)
	}
	if err := r.Done(); !errors.Is(err, seal.ErrInvalid) {
		t.Errorf("done: got error %v, want %v", err, seal.ErrInvalid)
	}
}

// A-H1: a handle has at most 512 characters.
func TestAHandleIsShort(t *testing.T) {
	t.Parallel()
	var f seal.Fields
	f.Int(1)                             // version
	f.Int(2)                             // kind
	f.String(strings.Repeat("s", 16))    // serial
	f.String("a-backend-of-common-name") // backend
	f.String(strings.Repeat("u", 43))    // the backend's task id
	f.String(strings.Repeat("p", 16))    // principal
	f.Int(1_790_000_000_123)             // creation
	token := mustSeal(t, keys(t, newSecret), "handle", string(f.Bytes()))
	if len(token) > 256 {
		t.Errorf("%d characters", len(token))
	}
}

func FuzzFields(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{2, 1, 'x', 4})
	f.Fuzz(func(t *testing.T, payload []byte) {
		r := seal.ReadFields(payload)
		n, s, m := r.Int(), r.String(), r.Int()
		if r.Done() != nil {
			return
		}
		var again seal.Fields
		again.Int(n)
		again.String(s)
		again.Int(m)
		// Varints have longer spellings, but never shorter ones.
		if len(again.Bytes()) > len(payload) {
			t.Errorf("%x was read from %x", again.Bytes(), payload)
		}
	})
}
