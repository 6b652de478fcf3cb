package jose

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/big"
)

// ErrKeyMismatch says that a key does not fit the algorithm.
var ErrKeyMismatch = errors.New("the key does not fit the algorithm")

var contentKeySizes = map[string]int{"A256GCM": 32, "A128GCM": 16}

// EncryptsWith reports whether enc is an algorithm of this package.
func EncryptsWith(enc string) bool { return contentKeySizes[enc] > 0 }

// WrapsWith reports whether alg is an algorithm of this package.
func WrapsWith(alg string) bool {
	switch alg {
	case "RSA-OAEP", "RSA-OAEP-256", "ECDH-ES+A128KW", "ECDH-ES+A256KW":
		return true
	}
	return false
}

// Header is the protected header of an envelope. The members are in alphabetical order, which the service writes too.
type Header struct {
	Alg string        `json:"alg"`
	Cty string        `json:"cty,omitempty"`
	Enc string        `json:"enc"`
	Epk *ephemeralKey `json:"epk,omitempty"`
	Iat *int64        `json:"iat,omitempty"`
	Kid string        `json:"kid,omitempty"`
	Pol string        `json:"pol,omitempty"`
	Typ string        `json:"typ,omitempty"`
}

type ephemeralKey struct {
	Crv string `json:"crv"`
	Kty string `json:"kty"`
	X   string `json:"x"`
	Y   string `json:"y"`
}

// Seal encrypts a plaintext and returns the JSON text of the envelope. The algorithms are those of this package.
func Seal(header Header, key *Key, plaintext []byte) ([]byte, error) {
	contentKey := make([]byte, contentKeySizes[header.Enc])
	defer wipe(contentKey)
	iv := make([]byte, 12)
	for _, random := range [][]byte{contentKey, iv} {
		if _, err := rand.Read(random); err != nil {
			return nil, err
		}
	}
	wrapped, err := wrapContentKey(&header, key, contentKey)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(header)
	if err != nil {
		return nil, err
	}
	protected := encoding.EncodeToString(text)
	block, err := aes.NewCipher(contentKey)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	sealed := aead.Seal(nil, iv, plaintext, []byte(protected))
	end := len(sealed) - aead.Overhead()
	return json.Marshal(struct {
		Protected    string `json:"protected"`
		EncryptedKey string `json:"encrypted_key"`
		IV           string `json:"iv"`
		Ciphertext   string `json:"ciphertext"`
		Tag          string `json:"tag"`
	}{
		protected, encoding.EncodeToString(wrapped), encoding.EncodeToString(iv),
		encoding.EncodeToString(sealed[:end]), encoding.EncodeToString(sealed[end:]),
	})
}

func wrapContentKey(header *Header, key *Key, contentKey []byte) ([]byte, error) {
	rsaKey, isRSA := key.Public.(*rsa.PublicKey)
	ecKey, isEC := key.Public.(*ecdsa.PublicKey)
	switch {
	case header.Alg == "RSA-OAEP-256" && isRSA:
		return rsa.EncryptOAEP(sha256.New(), rand.Reader, rsaKey, contentKey, nil)
	case header.Alg == "RSA-OAEP" && isRSA:
		return rsa.EncryptOAEP(sha1.New(), rand.Reader, rsaKey, contentKey, nil)
	case header.Alg == "ECDH-ES+A256KW" && isEC:
		return agree(header, ecKey, 32, contentKey)
	case header.Alg == "ECDH-ES+A128KW" && isEC:
		return agree(header, ecKey, 16, contentKey)
	}
	return nil, ErrKeyMismatch
}

// agree wraps the content key as RFC 7518, section 4.6 defines it, and puts the ephemeral key into the header.
func agree(header *Header, recipient *ecdsa.PublicKey, size int, contentKey []byte) ([]byte, error) {
	curve := recipient.Curve
	private, x, y, err := elliptic.GenerateKey(curve, rand.Reader)
	if err != nil {
		return nil, err
	}
	defer wipe(private)
	shared, _ := curve.ScalarMult(recipient.X, recipient.Y, private)
	secret := coordinate(curve, shared)
	defer wipe(secret)
	header.Epk = &ephemeralKey{
		Crv: curve.Params().Name, Kty: "EC",
		X: encoding.EncodeToString(coordinate(curve, x)), Y: encoding.EncodeToString(coordinate(curve, y)),
	}
	wrappingKey := deriveKey(secret, header.Alg, size)
	defer wipe(wrappingKey)
	return wrapKey(wrappingKey, contentKey)
}

func coordinate(curve elliptic.Curve, value *big.Int) []byte {
	return value.FillBytes(make([]byte, (curve.Params().BitSize+7)/8))
}

// deriveKey is one round of the Concat KDF with empty apu and apv, which is enough for 32 bytes.
func deriveKey(secret []byte, algorithm string, size int) []byte {
	digest := sha256.New()
	number := func(value int) {
		var field [4]byte
		binary.BigEndian.PutUint32(field[:], uint32(value))
		digest.Write(field[:])
	}
	number(1)
	digest.Write(secret)
	number(len(algorithm))
	digest.Write([]byte(algorithm))
	number(0)
	number(0)
	number(size * 8)
	return digest.Sum(nil)[:size]
}

// wrapKey is AES Key Wrap (RFC 3394).
func wrapKey(wrappingKey, key []byte) ([]byte, error) {
	block, err := aes.NewCipher(wrappingKey)
	if err != nil {
		return nil, err
	}
	wrapped := make([]byte, 8+len(key))
	copy(wrapped[8:], key)
	var buffer [16]byte
	defer wipe(buffer[:])
	integrity := buffer[:8]
	for index := range integrity {
		integrity[index] = 0xa6
	}
	count := len(key) / 8
	for round := 0; round < 6; round++ {
		for index := 1; index <= count; index++ {
			part := wrapped[8*index : 8*index+8]
			copy(buffer[8:], part)
			block.Encrypt(buffer[:], buffer[:])
			copy(part, buffer[8:])
			step := binary.BigEndian.Uint64(integrity) ^ uint64(round*count+index)
			binary.BigEndian.PutUint64(integrity, step)
		}
	}
	copy(wrapped, integrity)
	return wrapped, nil
}

func wipe(secret []byte) {
	for index := range secret {
		secret[index] = 0
	}
}
