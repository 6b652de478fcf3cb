// Package jose makes envelopes and verifies signatures with the public keys of the service, as RFC 7516, RFC 7518 and
// src/formats/envelope/FORMAT.md of Sealward define them.
package jose

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
)

// Key is a public key of the service.
type Key struct {
	KeyID string
	// Use is enc or sig.
	Use    string
	Public crypto.PublicKey
}

var errKey = errors.New("not a public key")

// ParseKey reads a JWK.
func ParseKey(text []byte) (*Key, error) {
	var jwk struct {
		Kty string `json:"kty"`
		Kid string `json:"kid"`
		Use string `json:"use"`
		Crv string `json:"crv"`
		N   string `json:"n"`
		E   string `json:"e"`
		X   string `json:"x"`
		Y   string `json:"y"`
	}
	if err := json.Unmarshal(text, &jwk); err != nil {
		return nil, errKey
	}
	key := &Key{KeyID: jwk.Kid, Use: jwk.Use}
	switch {
	case jwk.Kty == "RSA":
		modulus, exponent := number(jwk.N), number(jwk.E)
		if modulus.BitLen() < 2048 || !exponent.IsInt64() || exponent.Int64() < 3 || exponent.BitLen() > 31 {
			return nil, errKey
		}
		key.Public = &rsa.PublicKey{N: modulus, E: int(exponent.Int64())}
	case jwk.Kty == "EC" && Curve(jwk.Crv) != nil:
		point := &ecdsa.PublicKey{Curve: Curve(jwk.Crv), X: number(jwk.X), Y: number(jwk.Y)}
		if !point.Curve.IsOnCurve(point.X, point.Y) {
			return nil, errKey
		}
		key.Public = point
	case jwk.Kty == "OKP" && jwk.Crv == "Ed25519":
		content, err := encoding.DecodeString(jwk.X)
		if err != nil || len(content) != ed25519.PublicKeySize {
			return nil, errKey
		}
		key.Public = ed25519.PublicKey(content)
	}
	return key, nil
}

var encoding = base64.RawURLEncoding

// number is zero for text that is not base64url.
func number(text string) *big.Int {
	content, err := encoding.DecodeString(text)
	if err != nil {
		return new(big.Int)
	}
	return new(big.Int).SetBytes(content)
}

// Curve returns the curve of a name, or nil.
func Curve(name string) elliptic.Curve {
	switch name {
	case "P-256":
		return elliptic.P256()
	case "P-384":
		return elliptic.P384()
	case "P-521":
		return elliptic.P521()
	}
	return nil
}
