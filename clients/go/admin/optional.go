package admin

import (
	"bytes"
	"encoding/json"
	"reflect"

	"sealward.dev/go/internal/jsontext"
)

// Optional is a member of a request. A member that is not set is not sent, [Set] sends a value, also an empty one, and
// [Null] sends null. It is a map because encoding/json leaves empty maps out.
type Optional[T any] map[bool]T

// Set returns a member with a value.
func Set[T any](value T) Optional[T] { return Optional[T]{true: value} }

// Null returns a member that becomes null.
func Null[T any]() Optional[T] {
	var none T
	return Optional[T]{false: none}
}

// Value returns the value, if the member has one.
func (o Optional[T]) Value() (value T, isSet bool) {
	value, isSet = o[true]
	return value, isSet
}

// MarshalJSON writes the value, or null. A list that is nil is an empty list, not null: null often means everything.
func (o Optional[T]) MarshalJSON() ([]byte, error) {
	value, isSet := o[true]
	if !isSet {
		return []byte("null"), nil
	}
	if set := reflect.ValueOf(value); set.Kind() == reflect.Slice && set.IsNil() {
		return []byte("[]"), nil
	} else if set.Kind() == reflect.Map && set.IsNil() {
		return []byte("{}"), nil
	}
	return jsontext.Encode(value)
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
