package state

import (
	"fmt"
	"strings"
)

const (
	// MaxName bounds keys, owners, orders, lease names, holders and topics, in
	// bytes.
	MaxName = 2048
	// MaxValue bounds the value of a record, in bytes.
	MaxValue = 256 << 20
)

// CheckName returns an error that wraps [ErrInvalid] and names what, if name is
// empty, longer than [MaxName] or contains a NUL byte. NUL is reserved as the
// separator inside the keys of an implementation.
func CheckName(what, name string) error {
	if name == "" {
		return fmt.Errorf("%w: %s: empty", ErrInvalid, what)
	}
	return checkText(what, name)
}

func checkText(what, text string) error {
	switch {
	case len(text) > MaxName:
		return fmt.Errorf("%w: %s: %d bytes, at most %d", ErrInvalid, what, len(text), MaxName)
	case strings.IndexByte(text, 0) >= 0:
		return fmt.Errorf("%w: %s: contains a NUL byte", ErrInvalid, what)
	}
	return nil
}

// Check returns an error that wraps [ErrInvalid] and names the field, if a
// store may not accept the record.
func (r Record) Check() error {
	if err := CheckName("key", r.Key); err != nil {
		return err
	}
	if err := checkText("owner", r.Owner); err != nil {
		return err
	}
	if err := checkText("order", r.Order); err != nil {
		return err
	}
	if len(r.Value) > MaxValue {
		return fmt.Errorf("%w: value: %d bytes, at most %d", ErrInvalid, len(r.Value), MaxValue)
	}
	return nil
}
