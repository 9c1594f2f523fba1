package wire_test

import (
	"testing"

	"github.com/taskbridge/taskbridge/internal/wire"
)

func TestWriter(t *testing.T) {
	t.Parallel()
	w := wire.Begin([]byte("head"))
	if !w.Empty() {
		t.Error("a writer starts empty")
	}
	w.Value("absent", "")
	if !w.Empty() {
		t.Error("an absent value wrote something")
	}
	w.Text("s", "a\"\\\n\x01é😀")
	w.Int("n", -9007199254740993)
	w.Value("v", "1e-07")
	w.Raw("r", []byte(`[1, 2]`))
	for m := range wire.Value(`{ "\u0063" : 12345678901234567890 }`).Members() {
		w.Copy(m)
		w.Spell(m)
		w.SetBuf(append(w.Buf(), "null"...))
	}
	w.Name("o")
	inner := wire.Begin(w.Buf())
	w.SetBuf(inner.End())
	if w.Empty() {
		t.Error("a writer with members is empty")
	}
	const want = `head{"s":"a\"\\\n\u0001é😀","n":-9007199254740993,"v":1e-07,"r":[1, 2],` +
		`"\u0063":12345678901234567890,"\u0063":null,"o":{}}`
	if got := string(w.End()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestWriterEmpty(t *testing.T) {
	t.Parallel()
	w := wire.Begin(nil)
	if got := string(w.End()); got != "{}" {
		t.Errorf("got %s", got)
	}
}

func TestString(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]wire.Value{
		"":          `""`,
		"<a href>&": `"<a href>&"`, // nothing but what JSON requires is escaped
		"\xff":      "\"\ufffd\"",
		"\u2028":    "\"\u2028\"",
	} {
		if got := wire.String(in); got != want {
			t.Errorf("String(%q) = %s, want %s", in, got, want)
		}
	}
}
