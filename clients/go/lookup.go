package sealward

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Caller is what a credential may do.
type Caller struct {
	ServiceID  string `json:"serviceId"`
	Credential struct {
		// Type is api_key or identity.
		Type string `json:"type"`
		ID   string `json:"id"`
	} `json:"credential"`
	// PolicyNumber is the bound policy, or nil.
	PolicyNumber *string `json:"policyNumber"`
	// AllowedOperations is nil if all are allowed.
	AllowedOperations []string  `json:"allowedOperations"`
	RateLimit         RateLimit `json:"rateLimit"`
}

// RateLimit is the number of requests that a service may make.
type RateLimit struct {
	RequestsPerSecond int `json:"requestsPerSecond"`
	Burst             int `json:"burst"`
}

// Caller returns what the credential of the client may do.
func (c *Client) Caller(ctx context.Context) (*Caller, error) {
	return get[Caller](ctx, c, Request{Path: "/api/v1/caller"})
}

// Policy is what a caller must know of a policy to protect under it.
type Policy struct {
	ID           string `json:"id"`
	PolicyNumber string `json:"policyNumber"`
	// Status is active, inactive or frozen.
	Status          string           `json:"status"`
	FailureMode     string           `json:"failureMode"`
	KeyOwnership    string           `json:"keyOwnership"`
	Alg             string           `json:"alg"`
	Enc             string           `json:"enc"`
	ContextRequired bool             `json:"contextRequired"`
	RequireBinding  bool             `json:"requireBinding"`
	Headers         *EnvelopeHeaders `json:"headers"`
	// Key is the public key as a JWK with kid, or nil.
	Key JSON `json:"key"`
}

// EnvelopeHeaders are the headers of the envelopes of a destination_managed policy.
type EnvelopeHeaders struct {
	Typ *string `json:"typ"`
	Iat bool    `json:"iat"`
	Cty *string `json:"cty"`
}

// Policy returns a policy under which the caller may protect.
func (c *Client) Policy(ctx context.Context, policyNumber string) (*Policy, error) {
	return get[Policy](ctx, c, Request{Path: "/api/v1/policies/" + url.PathEscape(policyNumber)})
}

// JWKSet is the published keys of a service.
type JWKSet struct {
	// Keys are JWKs.
	Keys []JSON `json:"keys"`
}

// JWKS returns the keys that a service publishes (publishKeys). It needs no credential.
func (c *Client) JWKS(ctx context.Context, serviceID string) (*JWKSet, error) {
	return get[JWKSet](ctx, c, Request{Path: "/.well-known/jwks/" + url.PathEscape(serviceID), Anonymous: true})
}

func get[T any](ctx context.Context, client *Client, request Request) (*T, error) {
	request.Method = http.MethodGet
	response, err := client.Send(ctx, request)
	if err != nil {
		return nil, err
	}
	found := new(T)
	if err := response.Decode(found); err != nil {
		return nil, err
	}
	return found, nil
}

// Health is the state of the service and its parts. Statuses are ok, degraded or unavailable.
type Health struct {
	Status    string    `json:"status"`
	Version   string    `json:"version"`
	Timestamp time.Time `json:"timestamp"`
	Checks    struct {
		Database struct {
			Status    string   `json:"status"`
			LatencyMs *float64 `json:"latencyMs"`
		} `json:"database"`
		HSM struct {
			Status      string        `json:"status"`
			LatencyMs   *float64      `json:"latencyMs"`
			Tokens      []HealthToken `json:"tokens"`
			MissingKeys []string      `json:"missingKeys"`
			WornKeys    []string      `json:"wornKeys"`
		} `json:"hsm"`
		Audit struct {
			Status string `json:"status"`
			Queued int    `json:"queued"`
		} `json:"audit"`
		RateLimiter HealthCheck `json:"rateLimiter"`
		Records     HealthCheck `json:"records"`
	} `json:"checks"`
}

// HealthToken is the state of one token.
type HealthToken struct {
	Label             string `json:"label"`
	Status            string `json:"status"`
	Workers           int    `json:"workers"`
	ConfiguredWorkers int    `json:"configuredWorkers"`
}

// HealthCheck is the state of one part.
type HealthCheck struct {
	Status string `json:"status"`
}

// Health asks once for the state of the service. A service that is unavailable has a state too, and no error.
func (c *Client) Health(ctx context.Context) (*Health, error) {
	ctx, cancel := c.withDeadline(ctx)
	defer cancel()
	answer, err := c.attempt(ctx, Request{Method: http.MethodGet, Path: "/api/v1/health"})
	if err != nil {
		return nil, err
	}
	response, err := c.complete(ctx, answer)
	if err != nil {
		return nil, err
	}
	health := new(Health)
	switch decodeErr := response.Decode(health); {
	case decodeErr == nil && health.Status != "":
		return health, nil
	case response.Status >= http.StatusMultipleChoices:
		return nil, response.refusal()
	case decodeErr == nil:
		return nil, response.unexpected("not a state of the service")
	default:
		return nil, decodeErr
	}
}
