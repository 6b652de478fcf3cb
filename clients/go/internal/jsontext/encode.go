// Package jsontext writes JSON whose values keep the text that the caller gave.
package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Encode returns the JSON text of a value. The text of a [json.RawMessage] stays as it is.
func Encode(value any) ([]byte, error) {
	if raw, isRaw := value.(json.RawMessage); isRaw {
		if !json.Valid(raw) {
			return nil, errors.New("the raw JSON is not valid")
		}
		return raw, nil
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, unrepresentable(err)
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}

// unrepresentable returns the error for a value that is not JSON. That of encoding/json can contain the value.
func unrepresentable(err error) error {
	var kind *json.UnsupportedTypeError
	if errors.As(err, &kind) {
		return fmt.Errorf("JSON cannot represent a value of the type %s", kind.Type)
	}
	var value *json.UnsupportedValueError
	if errors.As(err, &value) {
		return errors.New("JSON cannot represent NaN, infinity, or a value that contains itself")
	}
	return fmt.Errorf("the value cannot be written as JSON: %T", err)
}

// Object builds the text of a JSON object, member by member.
type Object struct {
	text []byte
	err  error
}

// Raw adds a member whose value is JSON text.
func (o *Object) Raw(name string, value []byte) {
	if o.text == nil {
		o.text = append(make([]byte, 0, len(value)+256), '{')
	} else {
		o.text = append(o.text, ',')
	}
	o.text = append(o.text, '"')
	o.text = append(o.text, name...)
	o.text = append(o.text, '"', ':')
	o.text = append(o.text, value...)
}

// Value adds a member.
func (o *Object) Value(name string, value any) {
	text, err := Encode(value)
	if err != nil && o.err == nil {
		o.err = err
		return
	}
	o.Raw(name, text)
}

// Text adds a member, unless value is empty.
func (o *Object) Text(name, value string) {
	if value != "" {
		o.Value(name, value)
	}
}

// Bytes returns the text of the object, or the first error of its members.
func (o *Object) Bytes() ([]byte, error) {
	if o.err != nil {
		return nil, o.err
	}
	if o.text == nil {
		return []byte("{}"), nil
	}
	return append(o.text, '}'), nil
}
