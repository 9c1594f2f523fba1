package jsonrpc

import (
	"errors"
	"fmt"

	"github.com/taskbridge/taskbridge/internal/wire"
)

// ParseBatch reads the messages of a checked array, of which there must be at
// least one and at most limit. The error is a *[wire.DecodeError] whose path
// begins with the place of the message, such as "[2].params".
func ParseBatch(v wire.Value, limit int) ([]Message, error) {
	if v.Kind() != wire.KindArray {
		return nil, wire.Wrong("", "an array")
	}
	var batch []Message
	for i, element := range v.Elements() {
		if i == limit {
			batch = nil
			break
		}
		msg, err := Parse(element)
		if err != nil {
			return nil, inElement(i, err)
		}
		batch = append(batch, msg)
	}
	if len(batch) == 0 {
		return nil, wire.Wrong("", fmt.Sprintf("an array of 1 to %d messages", limit))
	}
	return batch, nil
}

// inElement puts the place of an array's element before the path of an error.
func inElement(i int, err error) error {
	var decode *wire.DecodeError
	if !errors.As(err, &decode) {
		return err
	}
	path := wire.Index("", i)
	if decode.Path != "" {
		path = wire.Join(path, decode.Path)
	}
	return wire.Wrong(path, decode.Want)
}
