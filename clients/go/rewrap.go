package sealward

import (
	"context"

	"sealward.dev/go/internal/jsontext"
)

// RewrapRequest is what [Client.Rewrap] seals again.
type RewrapRequest struct {
	Envelope Envelope `json:"jwe"`
	// PolicyNumber selects the policy that opens, and ToPolicyNumber the policy that seals. The default of the second is
	// the first, under its newest key.
	PolicyNumber   string `json:"policyNumber"`
	ToPolicyNumber string `json:"toPolicyNumber"`
	// Context opens. ToContext seals; its default is Context.
	Context   Context `json:"context"`
	ToContext Context `json:"toContext"`
}

func (r RewrapRequest) body() ([]byte, error) {
	var body jsontext.Object
	r.Envelope.writeTo(&body)
	body.Text("policyNumber", r.PolicyNumber)
	body.Text("toPolicyNumber", r.ToPolicyNumber)
	writeContext(&body, "context", r.Context)
	writeContext(&body, "toContext", r.ToContext)
	return requestText(&body)
}

// Rewrap opens an envelope and seals its content again, inside the service. The plaintext does not leave the service.
func (c *Client) Rewrap(ctx context.Context, request RewrapRequest) (Protected, error) {
	body, err := request.body()
	if err != nil {
		return Protected{}, err
	}
	var answer sealingAnswer
	response, err := c.post(ctx, "/api/v1/rewrap", body, &answer)
	if err != nil {
		return Protected{}, opening(err)
	}
	return answer.protected(response, answer.RequestID)
}

// protected accepts an envelope alone.
func (a sealingAnswer) protected(response *Response, requestID string) (Protected, error) {
	outcome, err := a.protection(response, requestID)
	if err != nil {
		return Protected{}, err
	}
	return onlyProtected(outcome)
}
