package admin

import (
	"bytes"
	"encoding/json"
)

// Optional is a member of a change. A member that is not set is not sent, [Set] sends a value, and [Null] sends null.
type Optional[T any] map[bool]T

// Set returns a member with a value.
func Set[T any](value T) Optional[T] { return Optional[T]{true: value} }

// Null returns a member that becomes null.
func Null[T any]() Optional[T] {
	var none T
	return Optional[T]{false: none}
}

// MarshalJSON writes the value, or null.
func (o Optional[T]) MarshalJSON() ([]byte, error) {
	if value, isSet := o[true]; isSet {
		return json.Marshal(value)
	}
	return []byte("null"), nil
}

// UnmarshalJSON reads the value, or null.
func (o *Optional[T]) UnmarshalJSON(text []byte) error {
	if bytes.Equal(text, []byte("null")) {
		*o = Null[T]()
		return nil
	}
	var value T
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	*o = Set(value)
	return nil
}
