package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"sealward.dev/go"
	"sealward.dev/go/internal/jsontext"
)

// Keys are the keys of services.
type Keys struct {
	collection[Key, NewKey, Key, KeyChanges, KeyFilter]
}

// Create generates or imports a key.
func (k Keys) Create(ctx context.Context, key NewKey, options ...Option) (Outcome[Key], error) {
	body, err := key.body()
	if err != nil {
		return Outcome[Key]{}, err
	}
	return change[Key](ctx, k.caller, http.MethodPost, k.path, sealward.JSON(body), options)
}

// ImportParameters makes a wrapping key for the import of a key.
func (k Keys) ImportParameters(ctx context.Context, mechanism string, options ...Option) (*ImportParameters, error) {
	return decide[ImportParameters](ctx, k.caller, segment(k.path, "import-parameters"), NewImportParameters{mechanism}, options)
}

// Key is a key of a service.
type Key struct {
	Revision
	ID         string `json:"id"`
	ServiceID  string `json:"serviceId"`
	Name       string `json:"name"`
	Use        string `json:"use"`
	Algorithm  string `json:"algorithm"`
	Origin     string `json:"origin"`
	HasPrivate bool   `json:"hasPrivate"`
	// Extractable is null for a key without a private half.
	Extractable *bool  `json:"extractable"`
	Status      string `json:"status"`
	// Version is the number of the key among the keys of its service and name, or nil for a key for envelopes.
	Version *int `json:"version,omitempty"`
	// PublicKey is a JWK, or nil.
	PublicKey    sealward.JSON `json:"publicKey"`
	Thumbprint   *string       `json:"thumbprint"`
	PartnerKid   *string       `json:"partnerKid"`
	RotationDays *int          `json:"rotationDays"`
	ExpiresAt    *time.Time    `json:"expiresAt"`
	ActivatedAt  *time.Time    `json:"activatedAt"`
	DestroyAt    *time.Time    `json:"destroyAt"`
	SealValid    *bool         `json:"sealValid,omitempty"`
	CreatedAt    time.Time     `json:"createdAt"`
	UpdatedAt    time.Time     `json:"updatedAt"`
}

// NewKey generates or imports a key. It has exactly one source: Generate, PublicKey alone, WrappedKey, PrivateKey,
// SecretKey or TokenObject.
type NewKey struct {
	ServiceID    string         `json:"serviceId"`
	Name         string         `json:"name,omitempty"`
	Use          string         `json:"use,omitempty"`
	Algorithm    string         `json:"algorithm,omitempty"`
	Activate     Optional[bool] `json:"activate,omitempty"`
	ExpiresAt    *time.Time     `json:"expiresAt,omitempty"`
	PartnerKid   string         `json:"partnerKid,omitempty"`
	RotationDays int            `json:"rotationDays,omitempty"`
	// Version is the number of an imported or adopted key among the keys of its service and name. The default is the next one.
	Version  int  `json:"version,omitempty"`
	Generate bool `json:"generate,omitempty"`
	// PublicKey is a string in PEM, or a JWK.
	PublicKey  any         `json:"publicKey,omitempty"`
	WrappedKey *WrappedKey `json:"wrappedKey,omitempty"`
	// PrivateKey is PKCS#8 in PEM, which Passphrase can decrypt, or the text of a JWK.
	PrivateKey *SecretText `json:"privateKey,omitempty"`
	Passphrase *SecretText `json:"passphrase,omitempty"`
	// SecretKey is base64.
	SecretKey   *SecretText  `json:"secretKey,omitempty"`
	TokenObject *TokenObject `json:"tokenObject,omitempty"`
}

// body returns the request, in which the secrets are legible.
func (k NewKey) body() ([]byte, error) {
	legible := struct {
		NewKey
		PrivateKey json.RawMessage `json:"privateKey,omitempty"`
		Passphrase string          `json:"passphrase,omitempty"`
		SecretKey  string          `json:"secretKey,omitempty"`
	}{NewKey: k}
	if k.Passphrase != nil {
		legible.Passphrase = k.Passphrase.Reveal()
	}
	if k.SecretKey != nil {
		legible.SecretKey = k.SecretKey.Reveal()
	}
	if k.PrivateKey != nil {
		legible.PrivateKey = json.RawMessage(k.PrivateKey.Reveal())
		if !strings.HasPrefix(strings.TrimSpace(k.PrivateKey.Reveal()), "{") {
			text, err := json.Marshal(k.PrivateKey.Reveal())
			if err != nil {
				return nil, err
			}
			legible.PrivateKey = text
		}
	}
	return jsontext.Encode(legible)
}

// WrappedKey is a private or secret key that a wrapping key of the token encrypts.
type WrappedKey struct {
	ImportKeyID string `json:"importKeyId"`
	Mechanism   string `json:"mechanism"`
	// Ciphertext is base64 in the API.
	Ciphertext []byte `json:"ciphertext"`
}

// TokenObject names a key that is in the token already, by CkaID in hexadecimal or by Label.
type TokenObject struct {
	CkaID string `json:"ckaId,omitempty"`
	Label string `json:"label,omitempty"`
}

// NewImportParameters makes a wrapping key.
type NewImportParameters struct {
	// Mechanism is RSA_OAEP_SHA256_AES_KWP or RSA_OAEP_SHA1_AES_KWP.
	Mechanism string `json:"mechanism"`
}

// ImportParameters is a wrapping key of the token.
type ImportParameters struct {
	ImportKeyID     string    `json:"importKeyId"`
	Mechanism       string    `json:"mechanism"`
	PublicKey       string    `json:"publicKey"`
	PublicKeySHA256 string    `json:"publicKeySha256"`
	ExpiresAt       time.Time `json:"expiresAt"`
}

// KeyChanges changes a key.
type KeyChanges struct {
	Name         Optional[string]    `json:"name,omitempty"`
	Status       Optional[string]    `json:"status,omitempty"`
	ExpiresAt    Optional[time.Time] `json:"expiresAt,omitempty"`
	RotationDays Optional[int]       `json:"rotationDays,omitempty"`
}

// KeyFilter selects keys.
type KeyFilter struct {
	Limit        int
	Name         string
	NameContains string
	ServiceID    string
	Use          string
	Status       string
}

func (f KeyFilter) query() (q query) {
	q.addNumber("limit", f.Limit)
	q.add("name", f.Name)
	q.add("nameContains", f.NameContains)
	q.add("serviceId", f.ServiceID)
	q.add("use", f.Use)
	q.add("status", f.Status)
	return q
}
