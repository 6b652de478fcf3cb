package sealward

import (
	"context"
	"encoding/json"
	"time"

	"sealward.dev/go/internal/jsontext"
)

// EncryptRequest is what [Client.Encrypt] encrypts.
type EncryptRequest struct {
	// Data is encrypted as JSON, and a []byte as its bytes.
	Data any `json:"data"`
	// Algorithm is AES-256-GCM or AES-128-GCM.
	Algorithm string `json:"algorithm"`
	// KeyID is optional. The default is the key of the calling service that was activated last.
	KeyID string `json:"keyId"`
	AAD   []byte `json:"aad"`
}

// Ciphertext is the result of [Client.Encrypt].
type Ciphertext struct {
	Ciphertext []byte `json:"ciphertext"`
	IV         []byte `json:"iv"`
	Tag        []byte `json:"tag"`
	Algorithm  string `json:"algorithm"`
	KeyID      string `json:"keyId"`
}

// Encrypt encrypts data with a key of the calling service.
func (c *Client) Encrypt(ctx context.Context, request EncryptRequest) (result Ciphertext, err error) {
	var payload jsontext.Object
	writeData(&payload, request.Data)
	payload.Value("algorithm", request.Algorithm)
	payload.Text("keyId", request.KeyID)
	writeBytes(&payload, "aad", request.AAD)
	_, err = c.operate(ctx, "encrypt", &payload, &result)
	return result, err
}

// DecryptRequest is what [Client.Decrypt] decrypts.
type DecryptRequest struct {
	Ciphertext
	AAD []byte `json:"aad"`
}

// Decrypt decrypts what [Client.Encrypt] made of a JSON value.
func (c *Client) Decrypt(ctx context.Context, request DecryptRequest) (Payload, error) {
	return c.decrypt(ctx, request, "")
}

// DecryptBytes decrypts what [Client.Encrypt] made of a []byte.
func (c *Client) DecryptBytes(ctx context.Context, request DecryptRequest) ([]byte, error) {
	payload, err := c.decrypt(ctx, request, "base64")
	if err != nil {
		return nil, err
	}
	return payload.Bytes()
}

func (c *Client) decrypt(ctx context.Context, request DecryptRequest, encoding string) (Payload, error) {
	var payload jsontext.Object
	payload.Value("ciphertext", nonNil(request.Ciphertext.Ciphertext))
	payload.Value("iv", nonNil(request.IV))
	payload.Value("tag", nonNil(request.Tag))
	payload.Value("algorithm", request.Algorithm)
	payload.Value("keyId", request.KeyID)
	payload.Text("encoding", encoding)
	writeBytes(&payload, "aad", request.AAD)
	var result struct {
		Data json.RawMessage `json:"data"`
	}
	response, err := c.operate(ctx, "decrypt", &payload, &result)
	if err != nil {
		return Payload{}, opening(err)
	}
	if result.Data == nil {
		return Payload{}, response.unexpected("data is missing")
	}
	return Payload{result.Data, response.Header.Get("X-Request-Id")}, nil
}

// SignRequest is what [Client.Sign] signs.
type SignRequest struct {
	// Data is signed in its canonical form (RFC 8785), a string as its UTF-8 bytes, and a []byte as its bytes.
	Data any `json:"data"`
	// Algorithm is for example ECDSA-SHA256.
	Algorithm string `json:"algorithm"`
	// KeyID is optional. The default is the key of the calling service that was activated last.
	KeyID string `json:"keyId"`
	// Prehashed says that Data is the digest, as a []byte.
	Prehashed bool `json:"prehashed"`
	// SignatureFormat is p1363, which is the default, or der. It concerns ECDSA.
	SignatureFormat string `json:"signatureFormat"`
}

// Signature is the result of [Client.Sign].
type Signature struct {
	Signature []byte `json:"signature"`
	Algorithm string `json:"algorithm"`
	KeyID     string `json:"keyId"`
}

// Sign signs data with a key of the calling service.
func (c *Client) Sign(ctx context.Context, request SignRequest) (result Signature, err error) {
	var payload jsontext.Object
	writeData(&payload, request.Data)
	payload.Value("algorithm", request.Algorithm)
	payload.Text("keyId", request.KeyID)
	writeSigning(&payload, request.Prehashed, request.SignatureFormat)
	_, err = c.operate(ctx, "sign", &payload, &result)
	return result, err
}

// VerifyRequest is what [Client.Verify] and [Client.VerifyLocally] verify.
type VerifyRequest struct {
	Data      any    `json:"data"`
	Signature []byte `json:"signature"`
	Algorithm string `json:"algorithm"`
	KeyID     string `json:"keyId"`
	Prehashed bool   `json:"prehashed"`
	// SignatureFormat is p1363, which is the default, or der. It concerns ECDSA.
	SignatureFormat string `json:"signatureFormat"`
}

// Verify reports whether a signature is valid.
func (c *Client) Verify(ctx context.Context, request VerifyRequest) (bool, error) {
	var payload jsontext.Object
	writeData(&payload, request.Data)
	payload.Value("signature", nonNil(request.Signature))
	payload.Value("algorithm", request.Algorithm)
	payload.Value("keyId", request.KeyID)
	writeSigning(&payload, request.Prehashed, request.SignatureFormat)
	var result struct {
		Valid bool `json:"valid"`
	}
	_, err := c.operate(ctx, "verify", &payload, &result)
	return result.Valid, err
}

// HashRequest is what [Client.Hash] hashes.
type HashRequest struct {
	// Data is hashed in the form in which [Client.Sign] signs it.
	Data any `json:"data"`
	// Algorithm is SHA-256, SHA-384 or SHA-512.
	Algorithm string `json:"algorithm"`
}

// Digest is the result of [Client.Hash].
type Digest struct {
	Hash      []byte `json:"hash"`
	Algorithm string `json:"algorithm"`
}

// Hash hashes data.
func (c *Client) Hash(ctx context.Context, request HashRequest) (result Digest, err error) {
	var payload jsontext.Object
	writeData(&payload, request.Data)
	payload.Value("algorithm", request.Algorithm)
	_, err = c.operate(ctx, "hash", &payload, &result)
	return result, err
}

func (c *Client) operate(ctx context.Context, operation string, payload *jsontext.Object, result any) (*Response, error) {
	text, err := requestText(payload)
	if err != nil {
		return nil, err
	}
	var body jsontext.Object
	body.Value("operation", operation)
	body.Raw("payload", text)
	if text, err = requestText(&body); err != nil {
		return nil, err
	}
	var answer operationAnswer
	response, err := c.post(ctx, "/api/v1/operations", text, &answer)
	if err != nil {
		return nil, err
	}
	if json.Unmarshal(answer.Result, result) != nil {
		return nil, response.unexpected("not the result of " + operation)
	}
	return response, nil
}

type operationAnswer struct {
	RequestID string          `json:"requestId"`
	Timestamp time.Time       `json:"timestamp"`
	Result    json.RawMessage `json:"result"`
}

func writeData(payload *jsontext.Object, data any) {
	if content, isBytes := data.([]byte); isBytes {
		payload.Value("data", nonNil(content))
		payload.Value("encoding", "base64")
		return
	}
	payload.Value("data", data)
}

func writeSigning(payload *jsontext.Object, prehashed bool, format string) {
	if prehashed {
		payload.Value("prehashed", true)
	}
	payload.Text("signatureFormat", format)
}

func writeBytes(payload *jsontext.Object, name string, content []byte) {
	if len(content) > 0 {
		payload.Value(name, content)
	}
}

// nonNil makes an empty string of no bytes, where encoding/json writes null.
func nonNil(content []byte) []byte {
	if content == nil {
		return []byte{}
	}
	return content
}
