package sealward

import (
	"context"

	"sealward.dev/go/internal/jsontext"
)

// DataKeyRequest is what [Client.DataKey] makes.
type DataKeyRequest struct {
	PolicyNumber string  `json:"policyNumber"`
	Context      Context `json:"context"`
	// Algorithm is AES-256, which is the default, or AES-128.
	Algorithm string `json:"algorithm"`
	// WithoutPlaintext asks for the envelope alone.
	WithoutPlaintext bool `json:"plaintext"`
}

func (r DataKeyRequest) body() ([]byte, error) {
	var body jsontext.Object
	body.Text("policyNumber", r.PolicyNumber)
	writeContext(&body, "context", r.Context)
	body.Text("algorithm", r.Algorithm)
	if r.WithoutPlaintext {
		body.Value("plaintext", false)
	}
	return requestText(&body)
}

// DataKey is a symmetric key and the envelope that contains it.
type DataKey struct {
	Algorithm string
	Envelope  Envelope
	// Key is nil if only the envelope was requested.
	Key       *Secret
	RequestID string
}

// DataKey makes a data key. [Client.OpenDataKey] returns the key of its envelope.
func (c *Client) DataKey(ctx context.Context, request DataKeyRequest) (DataKey, error) {
	body, err := request.body()
	if err != nil {
		return DataKey{}, err
	}
	var answer dataKeyAnswer
	response, err := c.post(ctx, "/api/v1/data-keys", body, &answer)
	if err != nil {
		return DataKey{}, err
	}
	made := DataKey{Algorithm: answer.Algorithm, Envelope: answer.JWE, RequestID: answer.RequestID}
	if answer.Key != nil {
		made.Key = &Secret{answer.Key}
	}
	if made.Envelope.IsZero() || (made.Key == nil) != request.WithoutPlaintext {
		return DataKey{}, response.unexpected("not a data key")
	}
	return made, nil
}

type dataKeyAnswer struct {
	RequestID string   `json:"requestId"`
	Algorithm string   `json:"algorithm"`
	Key       []byte   `json:"key"`
	JWE       Envelope `json:"jwe"`
}

// OpenDataKey returns the key in the envelope of a data key. With a [DataKeyCache] it asks the service once.
func (c *Client) OpenDataKey(ctx context.Context, request UnprotectRequest) (*Secret, error) {
	return c.dataKeys.opened(ctx, request, func() (*Secret, error) {
		payload, err := c.Unprotect(ctx, request)
		if err != nil {
			return nil, err
		}
		content, err := payload.Bytes()
		wipe(payload.text)
		return &Secret{content}, err
	})
}

// CachedDataKey returns a data key for a message of size bytes: one that the [DataKeyCache] allows to use again, or
// else a new one. Wiping it does not affect the cache.
func (c *Client) CachedDataKey(ctx context.Context, request DataKeyRequest, size int64) (DataKey, error) {
	return c.dataKeys.made(ctx, request, size, func() (DataKey, error) { return c.DataKey(ctx, request) })
}
