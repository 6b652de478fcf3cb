package sealward

import (
	"context"
	"encoding/json"
	"net/http"

	"sealward.dev/go/internal/jsontext"
)

// Context binds an envelope to what it belongs to, such as a tenant and a record. Whoever opens the envelope states the
// same context.
type Context map[string]string

// ProtectRequest is what [Client.Protect] seals.
type ProtectRequest struct {
	// Payload is the plaintext. [JSON] is sent to the letter, and a []byte as a string in base64. A value that encoding/json
	// cannot encode, such as NaN or a channel, is [ErrInvalidRequest].
	Payload any `json:"payload"`
	// PolicyNumber selects the policy. Without it, the policy that is bound to the credential decides.
	PolicyNumber string  `json:"policyNumber"`
	Context      Context `json:"context"`
}

func (r ProtectRequest) body() ([]byte, error) {
	var body jsontext.Object
	body.Value("payload", r.Payload)
	body.Text("policyNumber", r.PolicyNumber)
	writeContext(&body, "context", r.Context)
	return requestText(&body)
}

// requestText returns the text of a request, or the error for a value that JSON cannot represent.
func requestText(body *jsontext.Object) ([]byte, error) {
	text, err := body.Bytes()
	if err != nil {
		return nil, refuse(ErrInvalidRequest, err.Error())
	}
	return text, nil
}

// Protection is the outcome of [Client.ProtectOrPass]: [Protected], [PassedThrough] or [Dropped].
type Protection interface{ protection() }

// Protected is a payload in an envelope.
type Protected struct {
	Envelope  Envelope
	RequestID string
}

// PassedThrough is a payload that an inactive policy returned unencrypted.
type PassedThrough struct {
	Payload   Payload
	Warning   string
	RequestID string
}

// Dropped is a payload that an inactive policy discarded.
type Dropped struct {
	Message   string
	RequestID string
}

func (Protected) protection()     {}
func (PassedThrough) protection() {}
func (Dropped) protection()       {}

// Protect seals a payload. It returns an envelope or an error. If an inactive policy passes the payload through or drops
// it, the error is [ErrNotProtected].
func (c *Client) Protect(ctx context.Context, request ProtectRequest) (Protected, error) {
	outcome, err := c.ProtectOrPass(ctx, request)
	if err != nil {
		return Protected{}, err
	}
	return onlyProtected(outcome)
}

// ProtectOrPass seals a payload, and accepts that an inactive policy passes it through or drops it.
func (c *Client) ProtectOrPass(ctx context.Context, request ProtectRequest) (Protection, error) {
	body, err := request.body()
	if err != nil {
		return nil, err
	}
	var answer sealingAnswer
	response, err := c.post(ctx, "/api/v1/protect", body, &answer)
	if err != nil {
		return nil, err
	}
	return answer.protection(response, answer.RequestID)
}

func onlyProtected(outcome Protection) (Protected, error) {
	switch outcome := outcome.(type) {
	case PassedThrough:
		return Protected{}, &Error{Kind: ErrNotProtected, Message: outcome.Warning, RequestID: outcome.RequestID}
	case Dropped:
		return Protected{}, &Error{Kind: ErrNotProtected, Message: outcome.Message, RequestID: outcome.RequestID}
	}
	return outcome.(Protected), nil
}

// sealingAnswer is the answer of a call that makes envelopes, or one item of its batch.
type sealingAnswer struct {
	RequestID   string          `json:"requestId"`
	MessageType string          `json:"messageType"`
	Operations  []string        `json:"operations"`
	JWE         json.RawMessage `json:"jwe"`
	Payload     json.RawMessage `json:"payload"`
	Warning     string          `json:"warning"`
	Dropped     bool            `json:"dropped"`
	Message     string          `json:"message"`
}

func (a sealingAnswer) protection(response *Response, requestID string) (Protection, error) {
	switch {
	case len(a.Operations) > 0 && a.JWE != nil:
		envelope, err := receivedEnvelope(a.JWE)
		if err != nil {
			return nil, response.unexpected("jwe is not an envelope")
		}
		return Protected{Envelope: envelope, RequestID: requestID}, nil
	case len(a.Operations) > 0 || a.JWE != nil:
		return nil, response.unexpected("an operation without an envelope, or an envelope without an operation")
	case a.Dropped:
		return Dropped{Message: a.Message, RequestID: requestID}, nil
	case a.Payload != nil:
		return PassedThrough{Payload: Payload{a.Payload, requestID}, Warning: a.Warning, RequestID: requestID}, nil
	}
	return nil, response.unexpected("neither jwe, payload nor dropped")
}

// UnprotectRequest is what [Client.Unprotect] opens.
type UnprotectRequest struct {
	Envelope     Envelope `json:"jwe"`
	PolicyNumber string   `json:"policyNumber"`
	Context      Context  `json:"context"`
}

func (r UnprotectRequest) body() ([]byte, error) {
	var body jsontext.Object
	r.Envelope.writeTo(&body)
	body.Text("policyNumber", r.PolicyNumber)
	writeContext(&body, "context", r.Context)
	return requestText(&body)
}

// Unprotect opens an envelope. If it cannot be opened, the error is [ErrDecryptionFailed].
func (c *Client) Unprotect(ctx context.Context, request UnprotectRequest) (Payload, error) {
	body, err := request.body()
	if err != nil {
		return Payload{}, err
	}
	var answer openingAnswer
	response, err := c.post(ctx, "/api/v1/unprotect", body, &answer)
	if err != nil {
		return Payload{}, opening(err)
	}
	return answer.opened(response, answer.RequestID)
}

// openingAnswer is the answer of a call that opens envelopes, or one item of its batch.
type openingAnswer struct {
	RequestID  string          `json:"requestId"`
	Operations []string        `json:"operations"`
	Payload    json.RawMessage `json:"payload"`
}

func (a openingAnswer) opened(response *Response, requestID string) (Payload, error) {
	if a.Payload == nil {
		return Payload{}, response.unexpected("payload is missing")
	}
	return Payload{a.Payload, requestID}, nil
}

func writeContext(body *jsontext.Object, name string, context Context) {
	if context != nil {
		body.Value(name, context)
	}
}

// post calls an endpoint of the runtime API and decodes its answer.
func (c *Client) post(ctx context.Context, path string, body []byte, answer any) (*Response, error) {
	response, err := c.Send(ctx, Request{Method: http.MethodPost, Path: path, Body: body})
	if err != nil {
		return nil, err
	}
	return response, response.Decode(answer)
}

// Decode stores the JSON of the answer in the value that target points to.
func (r *Response) Decode(target any) error {
	if json.Unmarshal(r.Body, target) != nil {
		return r.unexpected("not the documented JSON")
	}
	return nil
}
