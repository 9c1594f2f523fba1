package seal_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/taskbridge/taskbridge/adapter/seal"
	"github.com/taskbridge/taskbridge/internal/env"
)

const (
	oldSecret = "the old secret, long enough"
	newSecret = "the new secret, long enough"
)

// keys returns keys of the secrets, current first.
func keys(t testing.TB, secrets ...string) *seal.Keys {
	t.Helper()
	return keysWith(t, env.System().Random(), secrets...)
}

func keysWith(t testing.TB, random io.Reader, secrets ...string) *seal.Keys {
	t.Helper()
	raw := make([][]byte, len(secrets))
	for i, secret := range secrets {
		raw[i] = []byte(secret)
	}
	k, err := seal.New(raw, random)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func mustSeal(t testing.TB, k *seal.Keys, purpose, payload string) string {
	t.Helper()
	token, err := k.Seal(purpose, []byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// wantOpen expects the token to open with the payload.
func wantOpen(t *testing.T, k *seal.Keys, purpose, token, payload string) {
	t.Helper()
	got, err := k.Open(purpose, token)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	if string(got) != payload {
		t.Errorf("got payload %q, want %q", got, payload)
	}
}

// wantInvalid expects the token not to open, with exactly the one error.
func wantInvalid(t *testing.T, k *seal.Keys, purpose, token string) {
	t.Helper()
	payload, err := k.Open(purpose, token)
	if err != seal.ErrInvalid { //nolint:errorlint // anything around it could tell why
		t.Errorf("open %q: got %q and error %v, want %v", token, payload, err, seal.ErrInvalid)
	}
	if payload != nil {
		t.Errorf("open %q: got payload %q with the error", token, payload)
	}
}

func TestTokensOpen(t *testing.T) {
	t.Parallel()
	k := keys(t, newSecret)
	for _, payload := range []string{"", "x", "\x00\xff", strings.Repeat("long", 1000)} {
		token := mustSeal(t, k, "handle", payload)
		if rest := strings.Trim(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"); rest != "" {
			t.Errorf("token %q: characters %q", token, rest)
		}
		if again := mustSeal(t, k, "handle", payload); again == token {
			t.Errorf("two tokens of payload %q are equal", payload)
		}
		wantOpen(t, k, "handle", token, payload)
	}
}

func TestKeyRotation(t *testing.T) {
	t.Parallel()
	old, both, current := keys(t, oldSecret), keys(t, newSecret, oldSecret), keys(t, newSecret)
	fromOld, fromBoth := mustSeal(t, old, "handle", "1"), mustSeal(t, both, "handle", "2")

	wantOpen(t, both, "handle", fromOld, "1")
	wantOpen(t, both, "handle", fromBoth, "2")
	wantOpen(t, current, "handle", fromBoth, "2") // the first secret seals
	wantInvalid(t, old, "handle", fromBoth)
	wantInvalid(t, current, "handle", fromOld)
	if both.Newest(fromOld) || !both.Newest(fromBoth) || !old.Newest(fromOld) || both.Newest("") || both.Newest("!") {
		t.Error("which secret is the newest is not told right")
	}
}

func TestPurposesAreApart(t *testing.T) {
	t.Parallel()
	k := keys(t, newSecret)
	token := mustSeal(t, k, "handle", "payload")
	for _, purpose := range []string{"", "cursor", "handl", "handle2", "Handle", "handle\x00"} {
		wantInvalid(t, k, purpose, token)
	}
	wantOpen(t, k, "handle", token, "payload")
}

func TestTamperedTokensDoNotOpen(t *testing.T) {
	t.Parallel()
	k := keys(t, newSecret, oldSecret)
	token := mustSeal(t, k, "handle", "a payload of some length")
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	for i := range raw {
		for bit := range 8 {
			changed := bytes.Clone(raw)
			changed[i] ^= 1 << bit
			wantInvalid(t, k, "handle", encode(changed))
		}
		wantInvalid(t, k, "handle", encode(raw[:i]))
		wantInvalid(t, k, "handle", encode(raw[i+1:]))
		wantInvalid(t, k, "handle", encode(append(bytes.Clone(raw[:i]), raw[i+1:]...)))
	}
	wantInvalid(t, k, "handle", encode(append(raw, 0)))
	for i := range token {
		wantInvalid(t, k, "handle", token[:i])
		wantInvalid(t, k, "handle", token[:i]+"!"+token[i+1:])
	}
}

func TestOnlyOneSpellingOfATokenOpens(t *testing.T) {
	t.Parallel()
	k := keys(t, newSecret)
	// A payload that leaves unused bits in the last character.
	var token string
	for payload := ""; len(token)%4 == 0; payload += "x" {
		token = mustSeal(t, k, "handle", payload)
	}
	last := token[len(token)-1]
	for _, spelling := range []string{
		token + "=", token + "==", token + "\n", "\n" + token, token + "\r", token[:9] + "\r\n" + token[9:],
		" " + token, token + " ", token[:len(token)-1] + string(last+1),
	} {
		wantInvalid(t, k, "handle", spelling)
	}
	if standard := strings.NewReplacer("-", "+", "_", "/").Replace(token); standard != token {
		wantInvalid(t, k, "handle", standard)
	}
}

// The format of version 1: clients hold tokens across releases, so a change
// here needs a new version.
func TestTokenFormatIsStable(t *testing.T) {
	t.Parallel()
	k := keysWith(t, strings.NewReader("nonce nonce nonce nonce!"), oldSecret)
	const want = "AfcADr9ub25jZSBub25jZSBub25jZSBub25jZSFxc9U2rR9wy-_OrUZy0Gn4BM98DJT0-A"
	if got := mustSeal(t, k, "handle", "payload"); got != want {
		t.Errorf("got token %s\nwant      %s", got, want)
	}
	wantOpen(t, k, "handle", want, "payload")
	sum := k.Hash("label", []byte("data"))
	if got, want := base64.RawURLEncoding.EncodeToString(sum[:]), "LqoIEldcCqBJ7Q519BPmAjwGFSldwrIdHCVKISwu6x0"; got != want {
		t.Errorf("got hash %s\nwant     %s", got, want)
	}
}

func TestSealReportsAFailingRandomSource(t *testing.T) {
	t.Parallel()
	failure := errors.New("out of entropy")
	for _, random := range []io.Reader{iotest.ErrReader(failure), io.MultiReader(strings.NewReader("short"), iotest.ErrReader(failure))} {
		token, err := keysWith(t, random, newSecret).Seal("handle", nil)
		if !errors.Is(err, failure) || token != "" {
			t.Errorf("got token %q and error %v, want %v", token, err, failure)
		}
	}
}

func TestSecretsMustBeLongEnough(t *testing.T) {
	t.Parallel()
	for name, secrets := range map[string][][]byte{
		"none":         nil,
		"empty":        {{}},
		"short":        {make([]byte, seal.MinSecret-1)},
		"second short": {make([]byte, seal.MinSecret), []byte("hunter2")},
	} {
		k, err := seal.New(secrets, env.System().Random())
		if err == nil || k != nil {
			t.Errorf("%s: no error", name)
			continue
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error shows the secret: %v", name, err)
		}
	}
	if _, err := seal.New([][]byte{make([]byte, seal.MinSecret)}, env.System().Random()); err != nil {
		t.Errorf("the shortest secret: %v", err)
	}
}

func TestHash(t *testing.T) {
	t.Parallel()
	k := keys(t, newSecret)
	sum := k.Hash("principal", []byte("alice"))
	if again := keys(t, newSecret).Hash("principal", []byte("alice")); again != sum {
		t.Error("the hash depends on more than secret, label and data")
	}
	for name, other := range map[string][32]byte{
		"data":   k.Hash("principal", []byte("bob")),
		"label":  k.Hash("session", []byte("alice")),
		"border": k.Hash("principala", []byte("lice")),
		"secret": keys(t, oldSecret).Hash("principal", []byte("alice")),
	} {
		if other == sum {
			t.Errorf("another %s has the same hash", name)
		}
	}
}

// What was stored under a hash is found for as long as its secret is accepted, and
// what is stored meanwhile outlives that.
func TestHashesSurviveARotation(t *testing.T) {
	t.Parallel()
	hash := func(secrets ...string) [32]byte { return keys(t, secrets...).Hash("principal", []byte("alice")) }
	for name, tt := range map[string]struct {
		secrets []string
		finds   [][32]byte
	}{
		"before":                 {[]string{oldSecret}, [][32]byte{hash(oldSecret)}},
		"the new one is known":   {[]string{oldSecret, newSecret}, [][32]byte{hash(oldSecret), hash(newSecret)}},
		"the new one is current": {[]string{newSecret, oldSecret}, [][32]byte{hash(newSecret), hash(oldSecret)}},
		"the old one is gone":    {[]string{newSecret}, [][32]byte{hash(newSecret)}},
	} {
		k := keys(t, tt.secrets...)
		if got := k.Hashes("principal", []byte("alice")); !slices.Equal(got, tt.finds) {
			t.Errorf("%s: got %x, want %x", name, got, tt.finds)
		}
		if got := k.Hash("principal", []byte("alice")); got != tt.finds[0] {
			t.Errorf("%s: stores under %x, want %x", name, got, tt.finds[0])
		}
	}
}

func FuzzOpen(f *testing.F) {
	// The same token in every process of the fuzzer.
	k := keysWith(f, strings.NewReader("nonce nonce nonce nonce!"), newSecret, oldSecret)
	token := mustSeal(f, k, "handle", "payload")
	f.Add(token)
	f.Add(token[1:])
	f.Add(mustSeal(f, keys(f, oldSecret), "cursor", ""))
	f.Add("")
	f.Add("AQ")
	f.Add("AQAAAAA=\n")
	f.Fuzz(func(t *testing.T, input string) {
		payload, err := k.Open("handle", input)
		switch {
		case err == nil && input == token:
		case err == nil:
			t.Errorf("%q opens, with payload %q", input, payload)
		case err != seal.ErrInvalid: //nolint:errorlint // anything around it could tell why
			t.Errorf("%q: error %v", input, err)
		}
	})
}
