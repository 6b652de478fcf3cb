package sealward

import (
	"context"
	"sync"
	"time"

	"sealward.dev/go/internal/jose"
	"sealward.dev/go/internal/jsontext"
)

// keysAge is how long the published keys of a service are used.
const keysAge = 60 * time.Second

// publishedKeys are the signing keys of a service.
type publishedKeys struct {
	mutex  sync.Mutex
	loaded time.Time
	keys   map[string]*jose.Key
}

// VerifyLocally reports whether a signature of a service is valid, as [Client.Verify] does, but in this process, with the
// keys that the service publishes (publishKeys). The keys are used for 60 seconds. HMAC and ML-DSA are [ErrUnsupportedAlgorithm]. A
// key that is not published, or does not fit the algorithm, is [ErrKeyUnavailable].
func (c *Client) VerifyLocally(ctx context.Context, serviceID string, request VerifyRequest) (bool, error) {
	algorithm, known := jose.SignatureAlgorithmOf(request.Algorithm)
	if !known {
		return false, refuse(ErrUnsupportedAlgorithm, request.Algorithm)
	}
	signed := jose.Signed{
		Algorithm: algorithm, Prehashed: request.Prehashed, Signature: request.Signature,
		DER: request.SignatureFormat == "der",
	}
	if format := request.SignatureFormat; format != "" && format != "p1363" && format != "der" {
		return false, refuse(ErrUnsupportedAlgorithm, format+" is not a format of signatures")
	}
	if err := signed.Check(request.SignatureFormat); err != nil {
		return false, refuse(ErrInvalidRequest, err.Error())
	}
	var err error
	if signed.Message, err = signedBytes(request.Data); err != nil {
		return false, refuse(ErrInvalidRequest, err.Error())
	}
	key, err := c.published(serviceID).key(ctx, c, serviceID, request.KeyID)
	if err != nil {
		return false, err
	}
	if !algorithm.Fits(key) {
		return false, refuse(ErrKeyUnavailable, "the key does not fit the algorithm "+request.Algorithm)
	}
	return signed.Verify(key), nil
}

func signedBytes(data any) ([]byte, error) {
	if content, isBytes := data.([]byte); isBytes {
		return content, nil
	}
	text, err := jsontext.Encode(data)
	if err != nil {
		return nil, err
	}
	return jsontext.Signed(text)
}

func (c *Client) published(serviceID string) *publishedKeys {
	found, _ := c.keys.LoadOrStore(serviceID, &publishedKeys{})
	return found.(*publishedKeys)
}

func (p *publishedKeys) key(ctx context.Context, client *Client, serviceID, id string) (*jose.Key, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.keys == nil || time.Since(p.loaded) >= keysAge {
		if err := p.load(ctx, client, serviceID); err != nil {
			return nil, err
		}
	}
	key := p.keys[id]
	if key == nil {
		return nil, refuse(ErrKeyUnavailable, "the service publishes no signing key "+id)
	}
	return key, nil
}

func (p *publishedKeys) load(ctx context.Context, client *Client, serviceID string) error {
	at := time.Now()
	set, err := client.JWKS(ctx, serviceID)
	if err != nil {
		return err
	}
	keys := make(map[string]*jose.Key, len(set.Keys))
	for _, text := range set.Keys {
		key, err := jose.ParseKey(text)
		if err != nil {
			return refuse(ErrUnexpectedAnswer, "a published key is not a JWK")
		}
		if key.Use == "sig" {
			keys[key.KeyID] = key
		}
	}
	p.keys, p.loaded = keys, at
	return nil
}
