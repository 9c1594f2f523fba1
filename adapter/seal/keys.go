package seal

import (
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"

	"golang.org/x/crypto/chacha20poly1305"
)

const (
	// SecretSize is the size of a secret that the bridge makes itself, in bytes.
	SecretSize = 32
	// MinSecret is the least size of a configured secret, in bytes.
	MinSecret = 16

	tokenVersion = 1
	keyIDSize    = 4
	headSize     = 1 + keyIDSize + chacha20poly1305.NonceSizeX
)

// ErrInvalid is the one answer for a token that is malformed, forged, cut,
// sealed with an unknown key or meant for another purpose.
var ErrInvalid = errors.New("seal: token does not open")

// Keys seals and opens tokens. It is safe for concurrent use.
type Keys struct {
	random io.Reader
	all    []key // the first one seals
}

type key struct {
	id   [keyIDSize]byte
	aead cipher.AEAD
	hash []byte
}

// New derives keys from secrets, current first. Nonces come from random. A
// secret below [MinSecret] bytes, or none at all, is an error.
func New(secrets [][]byte, random io.Reader) (*Keys, error) {
	if len(secrets) == 0 {
		return nil, errors.New("seal: no secret")
	}
	k := &Keys{random: random}
	for i, secret := range secrets {
		if len(secret) < MinSecret {
			return nil, fmt.Errorf("seal: secret %d: want at least %d bytes", i+1, MinSecret)
		}
		derived, err := deriveKey(secret)
		if err != nil {
			return nil, fmt.Errorf("seal: secret %d: %w", i+1, err)
		}
		k.all = append(k.all, derived)
	}
	return k, nil
}

func deriveKey(secret []byte) (key, error) {
	raw, err := hkdf.Key(sha256.New, secret, nil, "taskbridge token", chacha20poly1305.KeySize)
	if err != nil {
		return key{}, err
	}
	id, err := hkdf.Key(sha256.New, secret, nil, "taskbridge key id", keyIDSize)
	if err != nil {
		return key{}, err
	}
	hash, err := hkdf.Key(sha256.New, secret, nil, "taskbridge hash", sha256.Size)
	if err != nil {
		return key{}, err
	}
	aead, err := chacha20poly1305.NewX(raw)
	if err != nil {
		return key{}, err
	}
	return key{id: [keyIDSize]byte(id), aead: aead, hash: hash}, nil
}

// Seal returns a token of URL-safe characters that holds payload.
func (k *Keys) Seal(purpose string, payload []byte) (string, error) {
	current := &k.all[0]
	token := make([]byte, headSize, headSize+len(payload)+chacha20poly1305.Overhead)
	token[0] = tokenVersion
	copy(token[1:], current.id[:])
	nonce := token[1+keyIDSize : headSize]
	if _, err := io.ReadFull(k.random, nonce); err != nil {
		return "", fmt.Errorf("seal: nonce: %w", err)
	}
	token = current.aead.Seal(token, nonce, payload, additional(purpose))
	return base64.RawURLEncoding.EncodeToString(token), nil
}

// Open returns the payload of a token made for this purpose. The only error is
// [ErrInvalid].
func (k *Keys) Open(purpose, token string) ([]byte, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) < headSize || raw[0] != tokenVersion || base64.RawURLEncoding.EncodeToString(raw) != token {
		return nil, ErrInvalid
	}
	id, context := [keyIDSize]byte(raw[1:]), additional(purpose)
	for i := range k.all {
		if k.all[i].id != id {
			continue
		}
		// Two secrets may share an id; the right one is the one that opens.
		if payload, err := k.all[i].aead.Open(nil, raw[1+keyIDSize:headSize], raw[headSize:], context); err == nil {
			return payload, nil
		}
	}
	return nil, ErrInvalid
}

// Newest reports whether a token was made with the newest secret, if it opens at all:
// another has to be made in its place before its secret goes.
func (k *Keys) Newest(token string) bool {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	return err == nil && len(raw) >= headSize && [keyIDSize]byte(raw[1:]) == k.all[0].id
}

// additional is what a token authenticates without carrying it: the version, so
// that no later format can be passed off as this one or the reverse, and the
// purpose.
func additional(purpose string) []byte { return append([]byte{tokenVersion}, purpose...) }

// Hash returns a hash of data, keyed with the newest secret. Hashes with different
// labels never meet. What is stored under one has to be looked for under all of
// [Keys.Hashes], or a rotation of secrets would hide it.
func (k *Keys) Hash(label string, data []byte) [sha256.Size]byte {
	return k.all[0].sum(label, data)
}

// Hashes returns the hash of data under each accepted secret, the newest first: what
// was stored under [Keys.Hash] before secrets were rotated is under one of the
// others, as long as its secret is accepted.
func (k *Keys) Hashes(label string, data []byte) [][sha256.Size]byte {
	out := make([][sha256.Size]byte, len(k.all))
	for i := range k.all {
		out[i] = k.all[i].sum(label, data)
	}
	return out
}

func (k *key) sum(label string, data []byte) [sha256.Size]byte {
	mac := hmac.New(sha256.New, k.hash)
	mac.Write([]byte(label))
	mac.Write([]byte{0})
	mac.Write(data)
	return [sha256.Size]byte(mac.Sum(nil))
}
