package sealward

import (
	"context"
	"sync"
	"time"

	"sealward.dev/go/internal/jose"
	"sealward.dev/go/internal/jsontext"
)

// policyAge is how old a looked-up policy may be at most.
const policyAge = 60 * time.Second

// SealLocally makes an envelope in this process with the public key of the policy, which it looks up at most once in 60
// seconds. The service does not record such an envelope, does not limit it, and cannot stop it by a freeze within those
// 60 seconds.
//
// The policy must be active and must not require a context. Its alg must be RSA-OAEP, RSA-OAEP-256, ECDH-ES+A128KW or
// ECDH-ES+A256KW; the error for any other is [ErrUnsupportedAlgorithm]. Nothing falls back to another way.
func (c *Client) SealLocally(ctx context.Context, request ProtectRequest) (Envelope, error) {
	plaintext, err := jsontext.Encode(request.Payload)
	if err != nil {
		return Envelope{}, refuse(ErrInvalidRequest, err.Error())
	}
	policy, err := c.policies.current(ctx, c, request.PolicyNumber)
	if err != nil {
		return Envelope{}, err
	}
	header, err := localHeader(policy, request)
	if err != nil {
		return Envelope{}, err
	}
	key, err := jose.ParseKey(policy.Key)
	if err != nil {
		return Envelope{}, refuse(ErrUnexpectedAnswer, "the key of the policy is not a JWK")
	}
	header.Kid = key.KeyID
	text, err := jose.Seal(header, key, plaintext)
	if err == jose.ErrKeyMismatch {
		return Envelope{}, refuse(ErrUnexpectedAnswer, "the key of the policy does not fit its algorithm")
	}
	return Envelope{text: string(text)}, err
}

// localHeader returns the header of an envelope, without its key, or why none can be made.
func localHeader(policy *Policy, request ProtectRequest) (jose.Header, error) {
	header := jose.Header{Alg: policy.Alg, Enc: policy.Enc, Cty: "json"}
	switch {
	case policy.Status == "frozen":
		return header, refuse(ErrFrozen, "policy "+policy.PolicyNumber)
	case policy.Status != "active":
		return header, refuse(ErrPolicyNotActive, "policy "+policy.PolicyNumber)
	case policy.ContextRequired || request.Context != nil:
		return header, refuse(ErrContextRequired, "an envelope with a context cannot be sealed locally")
	case !jose.WrapsWith(policy.Alg):
		return header, refuse(ErrUnsupportedAlgorithm, policy.Alg)
	case !jose.EncryptsWith(policy.Enc):
		return header, refuse(ErrUnsupportedAlgorithm, policy.Enc)
	case len(policy.Key) == 0 || string(policy.Key) == "null":
		return header, refuse(ErrKeyUnavailable, "policy "+policy.PolicyNumber)
	case policy.KeyOwnership == "service_managed":
		header.Pol = policy.ID
	case policy.Headers != nil:
		header.Cty, header.Typ = textOf(policy.Headers.Cty), textOf(policy.Headers.Typ)
		if policy.Headers.Iat {
			now := time.Now().Unix()
			header.Iat = &now
		}
	}
	return header, nil
}

func textOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// policyLookups keeps the policies of local sealing. The bound policy of the credential has the number "".
type policyLookups struct {
	mutex sync.Mutex
	found map[string]*lookup
}

// lookup makes concurrent calls wait for one request.
type lookup struct {
	mutex  sync.Mutex
	policy *Policy
	// at is the time before the policy was asked for.
	at time.Time
}

func (p *policyLookups) current(ctx context.Context, client *Client, policyNumber string) (*Policy, error) {
	p.mutex.Lock()
	if p.found == nil {
		p.found = map[string]*lookup{}
	}
	entry := p.found[policyNumber]
	if entry == nil {
		entry = &lookup{}
		p.found[policyNumber] = entry
	}
	p.mutex.Unlock()
	entry.mutex.Lock()
	defer entry.mutex.Unlock()
	if entry.policy != nil && time.Since(entry.at) < policyAge {
		return entry.policy, nil
	}
	at := time.Now()
	policy, err := client.boundOrNamed(ctx, policyNumber)
	if err != nil {
		return nil, err
	}
	entry.policy, entry.at = policy, at
	return entry.policy, nil
}

func (c *Client) boundOrNamed(ctx context.Context, policyNumber string) (*Policy, error) {
	if policyNumber != "" {
		return c.Policy(ctx, policyNumber)
	}
	caller, err := c.Caller(ctx)
	if err != nil {
		return nil, err
	}
	if caller.PolicyNumber == nil {
		return nil, refuse(ErrInvalidRequest, "no policy is named, and none is bound to the credential")
	}
	return c.Policy(ctx, *caller.PolicyNumber)
}
