// Package interop tests the client against libraries of others: go-jose opens its envelopes, and Tink its sealed files.
package interop

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-jose/go-jose/v3"
	"github.com/tink-crypto/tink-go/v2/streamingaead/subtle"

	"sealward.dev/go"
)

// answering returns a client of a service that answers each path with JSON.
func answering(t *testing.T, answers map[string]any) *sealward.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		must(t, json.NewEncoder(answer).Encode(answers[request.URL.Path]))
	}))
	t.Cleanup(server.Close)
	client, err := sealward.New(sealward.Options{URL: server.URL, Credentials: sealward.APIKey("sk_test_interop")})
	must(t, err)
	return client
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestGoJoseOpensLocalEnvelopes(t *testing.T) {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	keys := map[string]crypto.Signer{"RSA": private}
	for name, curve := range map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()} {
		keys[name], err = ecdsa.GenerateKey(curve, rand.Reader)
		must(t, err)
	}
	for _, one := range []struct{ key, alg string }{
		{"RSA", "RSA-OAEP"}, {"RSA", "RSA-OAEP-256"},
		{"P-256", "ECDH-ES+A128KW"}, {"P-256", "ECDH-ES+A256KW"}, {"P-384", "ECDH-ES+A128KW"},
		{"P-384", "ECDH-ES+A256KW"}, {"P-521", "ECDH-ES+A128KW"}, {"P-521", "ECDH-ES+A256KW"},
	} {
		for _, enc := range []string{"A128GCM", "A256GCM"} {
			key := keys[one.key]
			client := answering(t, map[string]any{"/api/v1/policies/PARTNER": map[string]any{
				"id": "pol_1", "policyNumber": "PARTNER", "status": "active", "keyOwnership": "destination_managed",
				"alg": one.alg, "enc": enc, "headers": map[string]any{"typ": "JOSE", "iat": true, "cty": nil},
				"key": jose.JSONWebKey{Key: key.Public(), KeyID: "partner key", Use: "enc", Algorithm: one.alg},
			}})
			envelope, err := client.SealLocally(context.Background(), sealward.ProtectRequest{
				Payload: sealward.JSON(`{"n": 1.0}`), PolicyNumber: "PARTNER",
			})
			must(t, err)
			parsed, err := jose.ParseEncrypted(envelope.String())
			must(t, err)
			plaintext, err := parsed.Decrypt(key)
			must(t, err)
			header := parsed.Header
			if string(plaintext) != `{"n": 1.0}` || header.KeyID != "partner key" || header.ExtraHeaders["typ"] != "JOSE" {
				t.Errorf("%s %s %s: %s, %+v", one.key, one.alg, enc, plaintext, header)
			}
		}
	}
}

func TestTinkReadsAndWritesSealedFiles(t *testing.T) {
	key := make([]byte, 32)
	_, err := rand.Read(key)
	must(t, err)
	envelope := `{"protected":"eyJ","encrypted_key":"AA","iv":"AA","ciphertext":"AA","tag":"AA"}`
	client := answering(t, map[string]any{
		"/api/v1/data-keys": map[string]any{"requestId": "r", "algorithm": "AES-256", "key": key, "jwe": json.RawMessage(envelope)},
		"/api/v1/unprotect": map[string]any{"requestId": "r", "operations": []string{"decrypt"}, "payload": key},
	})
	tink, err := subtle.NewAESGCMHKDF(key, "SHA256", 32, 1<<20, 0)
	must(t, err)
	associated := sha256.Sum256([]byte(envelope + "\n"))
	for _, size := range []int{0, 1, 1 << 10, 1048520, 1048521, 1048520 + 1048560, 3 << 20} {
		plaintext := bytes.Repeat([]byte("x"), size)

		var ours bytes.Buffer
		writer, err := client.NewEncryptWriter(context.Background(), &ours, sealward.FileOptions{})
		must(t, err)
		_, err = writer.Write(plaintext)
		must(t, err)
		must(t, writer.Close())
		line, err := ours.ReadString('\n')
		must(t, err)
		theirs, err := tink.NewDecryptingReader(&ours, associated[:])
		must(t, err)
		got, err := io.ReadAll(theirs)
		if err != nil || !bytes.Equal(got, plaintext) || line != envelope+"\n" {
			t.Errorf("Tink reads %d of %d bytes: %v", len(got), size, err)
		}

		var file bytes.Buffer
		file.WriteString(line)
		sealing, err := tink.NewEncryptingWriter(&file, associated[:])
		must(t, err)
		_, err = sealing.Write(plaintext)
		must(t, err)
		must(t, sealing.Close())
		reader, err := client.NewDecryptReader(context.Background(), &file, sealward.FileOptions{})
		must(t, err)
		got, err = io.ReadAll(reader)
		if err != nil || !bytes.Equal(got, plaintext) {
			t.Errorf("%d of %d bytes of Tink are read: %v", len(got), size, err)
		}
	}
}
