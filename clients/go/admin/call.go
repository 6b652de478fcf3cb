package admin

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"

	"sealward.dev/go"
	"sealward.dev/go/internal/jsontext"
)

// Option changes the headers of a call.
type Option func(http.Header)

// IfMatch makes a change only if the resource still has the ETag. An empty ETag is no condition.
func IfMatch(etag string) Option {
	return func(header http.Header) {
		if etag != "" {
			header.Set("If-Match", etag)
		}
	}
}

// IdempotencyKey replaces the idempotency key of a POST. A program that keeps it can repeat the call after a restart.
func IdempotencyKey(key string) Option {
	return func(header http.Header) { header.Set("Idempotency-Key", key) }
}

type caller struct{ client *sealward.Client }

// send makes a call. A body that is nil is not sent.
func (c caller) send(ctx context.Context, method, path string, body any, options []Option) (*sealward.Response, error) {
	request := sealward.Request{Method: method, Path: path, Header: http.Header{}}
	if body != nil {
		text, err := jsontext.Encode(body)
		if err != nil {
			return nil, err
		}
		request.Body = text
	}
	switch method {
	case http.MethodPost:
		var key [16]byte
		if _, err := rand.Read(key[:]); err != nil {
			return nil, err
		}
		request.Header.Set("Idempotency-Key", hex.EncodeToString(key[:]))
	case http.MethodPatch:
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	for _, option := range options {
		option(request.Header)
	}
	return c.client.Send(ctx, request)
}

// read returns the resource at a path.
func read[R any](ctx context.Context, c caller, path string) (*R, error) {
	response, err := c.send(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		return nil, err
	}
	return resource[R](response)
}

// change makes a call whose answer is a resource, or a change that waits for approval.
func change[R any](ctx context.Context, c caller, method, path string, body any, options []Option) (Outcome[R], error) {
	response, err := c.send(ctx, method, path, body, options)
	if err != nil {
		return Outcome[R]{}, err
	}
	if response.Status == http.StatusAccepted {
		pending, err := resource[ProposedChange](response)
		return Outcome[R]{pending: pending}, err
	}
	done, err := resource[R](response)
	return Outcome[R]{done: done}, err
}

// decide makes a call whose answer is always a resource.
func decide[R any](ctx context.Context, c caller, path string, body any, options []Option) (*R, error) {
	response, err := c.send(ctx, http.MethodPost, path, body, options)
	if err != nil {
		return nil, err
	}
	return resource[R](response)
}

func resource[R any](response *sealward.Response) (*R, error) {
	found := new(R)
	if response.Status != http.StatusNoContent {
		if err := response.Decode(found); err != nil {
			return nil, err
		}
	}
	if revised, ok := any(found).(interface{ setETag(string) }); ok {
		revised.setETag(response.Header.Get("ETag"))
	}
	return found, nil
}

// Outcome is what a change did: the resource after it, or the change that waits for approval.
type Outcome[R any] struct {
	done    *R
	pending *ProposedChange
}

// Done returns the resource, if the change was made.
func (o Outcome[R]) Done() (*R, bool) { return o.done, o.done != nil }

// Pending returns the change, if it waits for approval. Nothing has happened yet.
func (o Outcome[R]) Pending() (*ProposedChange, bool) { return o.pending, o.pending != nil }

// Nothing is the resource that a deletion leaves.
type Nothing struct{}

// Revision is the part of a resource that concurrent changes compare.
type Revision struct {
	// ETag is for [IfMatch]. It is empty for an item of a list.
	ETag string `json:"-"`
}

func (r *Revision) setETag(etag string) { r.ETag = etag }

// SecretText is a secret that the API shows once, or that an import sends. It prints and encodes as [redacted].
type SecretText struct{ text string }

// NewSecretText returns a secret.
func NewSecretText(text string) *SecretText { return &SecretText{text} }

// Reveal returns the secret.
func (s *SecretText) Reveal() string { return s.text }

// String hides the secret.
func (s *SecretText) String() string { return redacted }

// GoString hides the secret.
func (s *SecretText) GoString() string { return redacted }

// MarshalJSON hides the secret.
func (s *SecretText) MarshalJSON() ([]byte, error) { return json.Marshal(redacted) }

// UnmarshalJSON reads the secret of an answer.
func (s *SecretText) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, &s.text) }

const redacted = "[redacted]"

func segment(path string, names ...string) string {
	for _, name := range names {
		path += "/" + url.PathEscape(name)
	}
	return path
}
