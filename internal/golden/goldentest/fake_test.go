package goldentest

import (
	"fmt"
	"runtime"
	"testing"
)

// fakeTB records what a test would have said. Fatal ends the goroutine, as in
// a real test.
type fakeTB struct {
	testing.TB
	failed   bool
	messages []string
}

func (f *fakeTB) Helper()             {}
func (f *fakeTB) Failed() bool        { return f.failed }
func (f *fakeTB) Skipped() bool       { return false }
func (f *fakeTB) Logf(string, ...any) {}

func (f *fakeTB) Error(args ...any) {
	f.failed = true
	f.messages = append(f.messages, fmt.Sprint(args...))
}

func (f *fakeTB) Errorf(format string, args ...any) {
	f.failed = true
	f.messages = append(f.messages, fmt.Sprintf(format, args...))
}

func (f *fakeTB) Fatal(args ...any) {
	f.Error(args...)
	runtime.Goexit()
}

func (f *fakeTB) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	runtime.Goexit()
}

// onFake runs fn to its end, or to its Fatal, and returns what it reported.
func onFake(fn func(tb testing.TB)) []string {
	fake := &fakeTB{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn(fake)
	}()
	<-done
	return fake.messages
}
