package sealward

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// JSON is raw JSON text. As a payload it is sent to the letter, so 12345678901234567890 and 1.0 stay what they are. Any
// other payload is encoded as encoding/json does it: a []byte becomes a string in base64, which [Payload.Bytes] reads.
type JSON = json.RawMessage

// Payload is a plaintext that the service returned. It prints as [redacted].
type Payload struct {
	text      JSON
	requestID string
}

// JSON returns the text of the plaintext, to the letter.
func (p Payload) JSON() JSON { return p.text }

// RequestID returns the ID of the request that returned the payload.
func (p Payload) RequestID() string { return p.requestID }

// Decode stores the plaintext in the value that target points to. Numbers in an interface become [json.Number]. A
// plaintext that does not fit is [ErrUnexpectedAnswer].
func (p Payload) Decode(target any) error {
	decoder := json.NewDecoder(bytes.NewReader(p.text))
	decoder.UseNumber()
	if decoder.Decode(target) != nil {
		// The error of encoding/json can contain the plaintext.
		return p.unexpected(fmt.Sprintf("the payload does not fit into %T", target))
	}
	return nil
}

// Bytes returns the bytes of a payload that was a []byte.
func (p Payload) Bytes() ([]byte, error) {
	var content []byte
	if len(p.text) == 0 || p.text[0] != '"' || json.Unmarshal(p.text, &content) != nil {
		return nil, p.unexpected("the payload is not a string in base64")
	}
	return content, nil
}

func (p Payload) unexpected(message string) *Error {
	return &Error{Kind: ErrUnexpectedAnswer, Message: message, RequestID: p.requestID}
}

// String hides the plaintext.
func (p Payload) String() string { return redacted }

// GoString hides the plaintext.
func (p Payload) GoString() string { return redacted }
