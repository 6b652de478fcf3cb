package jose

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	_ "crypto/sha256" // The digests of the algorithms.
	_ "crypto/sha512"
	"encoding/asn1"
	"errors"
	"math/big"
)

// SignatureAlgorithm is an algorithm whose signatures this package verifies.
type SignatureAlgorithm struct {
	scheme scheme
	digest crypto.Hash
	curve  elliptic.Curve
}

type scheme int

const (
	pkcs1 scheme = iota
	pss
	ecdsaScheme
	ed25519Scheme
)

var signatureAlgorithms = map[string]SignatureAlgorithm{
	"RSA-SHA256":     {scheme: pkcs1, digest: crypto.SHA256},
	"RSA-SHA384":     {scheme: pkcs1, digest: crypto.SHA384},
	"RSA-SHA512":     {scheme: pkcs1, digest: crypto.SHA512},
	"RSA-PSS-SHA256": {scheme: pss, digest: crypto.SHA256},
	"RSA-PSS-SHA384": {scheme: pss, digest: crypto.SHA384},
	"RSA-PSS-SHA512": {scheme: pss, digest: crypto.SHA512},
	"ECDSA-SHA256":   {scheme: ecdsaScheme, digest: crypto.SHA256, curve: elliptic.P256()},
	"ECDSA-SHA384":   {scheme: ecdsaScheme, digest: crypto.SHA384, curve: elliptic.P384()},
	"ECDSA-SHA512":   {scheme: ecdsaScheme, digest: crypto.SHA512, curve: elliptic.P521()},
	"Ed25519":        {scheme: ed25519Scheme},
}

// SignatureAlgorithmOf returns the algorithm of a name, if this package has it.
func SignatureAlgorithmOf(name string) (SignatureAlgorithm, bool) {
	algorithm, known := signatureAlgorithms[name]
	return algorithm, known
}

// Fits reports whether a key can have made signatures of the algorithm.
func (a SignatureAlgorithm) Fits(key *Key) bool {
	switch public := key.Public.(type) {
	case *rsa.PublicKey:
		return a.scheme == pkcs1 || a.scheme == pss
	case *ecdsa.PublicKey:
		return a.scheme == ecdsaScheme && a.curve == public.Curve
	case ed25519.PublicKey:
		return a.scheme == ed25519Scheme
	}
	return false
}

// Signed is a signature and what it covers.
type Signed struct {
	Algorithm SignatureAlgorithm
	// Message is the digest if Prehashed.
	Message   []byte
	Prehashed bool
	Signature []byte
	// DER says that the signature of ECDSA is in DER and not in IEEE P1363.
	DER bool
}

// Check reports what the algorithm does not support.
func (s Signed) Check(format string) error {
	switch {
	case format != "" && s.Algorithm.scheme != ecdsaScheme:
		return errors.New("only ECDSA has a signature format")
	case s.Prehashed && s.Algorithm.digest == 0:
		return errors.New("the algorithm does not sign digests")
	}
	return nil
}

// Verify reports whether the signature is valid. The algorithm fits the key.
func (s Signed) Verify(key *Key) bool {
	if public, isEd25519 := key.Public.(ed25519.PublicKey); isEd25519 {
		return ed25519.Verify(public, s.Message, s.Signature)
	}
	digest := s.Message
	if !s.Prehashed {
		state := s.Algorithm.digest.New()
		state.Write(s.Message)
		digest = state.Sum(nil)
	}
	if len(digest) != s.Algorithm.digest.Size() {
		return false
	}
	switch public := key.Public.(type) {
	case *rsa.PublicKey:
		if s.Algorithm.scheme == pkcs1 {
			return rsa.VerifyPKCS1v15(public, s.Algorithm.digest, digest, s.Signature) == nil
		}
		options := &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}
		return rsa.VerifyPSS(public, s.Algorithm.digest, digest, s.Signature, options) == nil
	case *ecdsa.PublicKey:
		r, t, ok := s.numbers(public)
		return ok && ecdsa.Verify(public, digest, r, t)
	}
	return false
}

// numbers are the two numbers of a signature of ECDSA.
func (s Signed) numbers(public *ecdsa.PublicKey) (*big.Int, *big.Int, bool) {
	if s.DER {
		var numbers struct{ R, S *big.Int }
		rest, err := asn1.Unmarshal(s.Signature, &numbers)
		return numbers.R, numbers.S, err == nil && len(rest) == 0
	}
	size := (public.Params().BitSize + 7) / 8
	if len(s.Signature) != 2*size {
		return nil, nil, false
	}
	return new(big.Int).SetBytes(s.Signature[:size]), new(big.Int).SetBytes(s.Signature[size:]), true
}
