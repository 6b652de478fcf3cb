package sealward

import (
	"bytes"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strings"

	"sealward.dev/go/internal/jsontext"
)

// Envelope is an encrypted payload: a JWE in flattened JSON serialization, or a legacy string. Its content is opaque. It
// is not secret and can be stored and printed. Two equal envelopes compare as equal.
type Envelope struct{ text string }

// ParseEnvelope reads the text of an envelope. The text can be that of [Envelope.String], a JWE of another program for
// the same key, a JWE in compact serialization, or a legacy string.
func ParseEnvelope(text string) (Envelope, error) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") {
		if text == "" || strings.ContainsAny(text, "\"{}[] \t\r\n") {
			return Envelope{}, refuse(ErrInvalidRequest, "not an envelope")
		}
		return Envelope{text: text}, nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(text)); err != nil {
		return Envelope{}, refuse(ErrInvalidRequest, "not an envelope")
	}
	return Envelope{text: compact.String()}, nil
}

// receivedEnvelope reads the envelope in a valid answer. It is as good as always compact already.
func receivedEnvelope(text []byte) (Envelope, error) {
	if len(text) > 0 && text[0] == '{' && !bytes.ContainsAny(text, " \t\r\n") {
		return Envelope{text: string(text)}, nil
	}
	return ParseEnvelope(string(text))
}

// String returns the text of the envelope. It contains no white space.
func (e Envelope) String() string { return e.text }

// IsZero reports whether there is no envelope.
func (e Envelope) IsZero() bool { return e.text == "" }

// isLegacy reports whether the envelope is sent as protectedPayload.
func (e Envelope) isLegacy() bool { return !strings.HasPrefix(e.text, "{") }

// MarshalJSON writes the JWE as an object, and a legacy string as a string.
func (e Envelope) MarshalJSON() ([]byte, error) {
	switch {
	case e.text == "":
		return []byte("null"), nil
	case e.isLegacy():
		return json.Marshal(e.text)
	}
	return []byte(e.text), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *Envelope) UnmarshalJSON(text []byte) error {
	var legacy string
	if bytes.Equal(text, []byte("null")) {
		*e = Envelope{}
		return nil
	}
	if json.Unmarshal(text, &legacy) == nil {
		text = []byte(legacy)
	}
	parsed, err := ParseEnvelope(string(text))
	*e = parsed
	return err
}

// Value stores the envelope in a column of text.
func (e Envelope) Value() (driver.Value, error) {
	if e.IsZero() {
		return nil, nil
	}
	return e.text, nil
}

// Scan reads the envelope from a column of text.
func (e *Envelope) Scan(column any) error {
	switch value := column.(type) {
	case nil:
		*e = Envelope{}
		return nil
	case string:
		return e.parse(value)
	case []byte:
		return e.parse(string(value))
	}
	return refuse(ErrInvalidRequest, fmt.Sprintf("a column of the type %T does not hold an envelope", column))
}

func (e *Envelope) parse(text string) (err error) {
	*e, err = ParseEnvelope(text)
	return err
}

// writeTo adds the envelope to the body of an opening call.
func (e Envelope) writeTo(body *jsontext.Object) {
	if e.isLegacy() {
		body.Text("protectedPayload", e.text)
	} else {
		body.Raw("jwe", []byte(e.text))
	}
}
