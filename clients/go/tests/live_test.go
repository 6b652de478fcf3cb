package tests

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"sealward.dev/go"
	"sealward.dev/go/admin"
)

func TestPayloadsComeBackToTheLetter(t *testing.T) {
	t.Parallel()
	client := newWorld(t).protecting()
	for _, text := range []string{
		"12345678901234567890", "1.0", `{"z":1e2, "a" : "\u00e9\/<>&"}`, "null", `""`, "[ ]",
	} {
		protected, err := client.Protect(context.Background(), sealward.ProtectRequest{Payload: sealward.JSON(text)})
		must(t, err)
		payload, err := client.Unprotect(context.Background(), sealward.UnprotectRequest{Envelope: protected.Envelope})
		must(t, err)
		if got := string(payload.JSON()); got != text {
			t.Errorf("%s came back as %s", text, got)
		}
	}
	var number any
	protected, err := client.Protect(context.Background(), sealward.ProtectRequest{Payload: json.Number("12345678901234567890")})
	must(t, err)
	payload, err := client.Unprotect(context.Background(), sealward.UnprotectRequest{Envelope: protected.Envelope})
	must(t, err)
	must(t, payload.Decode(&number))
	if fmt.Sprint(number) != "12345678901234567890" {
		t.Errorf("the number is %v", number)
	}
}

func TestBytesAndContextsComeBack(t *testing.T) {
	t.Parallel()
	client := newWorld(t).protecting()
	content := []byte{0, 1, 254, 255}
	bound := sealward.Context{"tenant": "acme"}
	protected, err := client.Protect(context.Background(), sealward.ProtectRequest{Payload: content, Context: bound})
	must(t, err)
	payload, err := client.Unprotect(context.Background(), sealward.UnprotectRequest{Envelope: protected.Envelope, Context: bound})
	must(t, err)
	got, err := payload.Bytes()
	must(t, err)
	if !bytes.Equal(got, content) {
		t.Errorf("%x", got)
	}
	for _, wrong := range []sealward.Context{nil, {"tenant": "other"}} {
		_, err = client.Unprotect(context.Background(), sealward.UnprotectRequest{Envelope: protected.Envelope, Context: wrong})
		wantKind(t, err, sealward.ErrDecryptionFailed)
	}
}

func TestInactivePoliciesNeverGiveAnEnvelope(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	world.key("P-256", "enc")
	inactive := func(mode string) *sealward.Client {
		return world.application(world.policy(func(policy *admin.NewPolicy) {
			policy.Alg, policy.Status, policy.FailureMode = "ECDH-ES+A256KW", "inactive", mode
		}).PolicyNumber)
	}
	request := sealward.ProtectRequest{Payload: sealward.JSON("1.0")}
	_, err := inactive("error").ProtectOrPass(context.Background(), request)
	wantKind(t, err, sealward.ErrPolicyNotActive)
	for _, mode := range []string{"passthrough", "drop"} {
		client := inactive(mode)
		_, err = client.Protect(context.Background(), request)
		wantKind(t, err, sealward.ErrNotProtected)
		outcome, err := client.ProtectOrPass(context.Background(), request)
		must(t, err)
		switch outcome := outcome.(type) {
		case sealward.PassedThrough:
			if mode != "passthrough" || string(outcome.Payload.JSON()) != "1.0" || outcome.Warning == "" {
				t.Errorf("%s: %+v", mode, outcome)
			}
		case sealward.Dropped:
			if mode != "drop" || outcome.Message == "" {
				t.Errorf("%s: %+v", mode, outcome)
			}
		default:
			t.Errorf("%s: %T", mode, outcome)
		}
		_, err = client.SealLocally(context.Background(), request)
		wantKind(t, err, sealward.ErrPolicyNotActive)
	}
}

func TestBatchesBeyondTheLimitAreSplit(t *testing.T) {
	t.Parallel()
	client := newWorld(t).protecting()
	const count = 1100
	requests := make([]sealward.ProtectRequest, count)
	for index := range requests {
		requests[index].Payload = index
	}
	requests[3].PolicyNumber = "NO-SUCH-POLICY"
	sealed, err := client.ProtectBatch(context.Background(), requests)
	must(t, err)
	wantKind(t, sealed[3].Err, sealward.ErrNotFound)
	openings := make([]sealward.UnprotectRequest, 0, count)
	for index, one := range sealed {
		if index != 3 {
			must(t, one.Err)
			openings = append(openings, sealward.UnprotectRequest{Envelope: one.Value.Envelope})
		}
	}
	opened, err := client.UnprotectBatch(context.Background(), openings)
	must(t, err)
	if got := string(opened[count-2].Value.JSON()); len(opened) != count-1 || got != fmt.Sprint(count-1) {
		t.Errorf("%d results, the last is %s", len(opened), got)
	}
	rewrapped, err := client.RewrapBatch(context.Background(), []sealward.RewrapRequest{
		{Envelope: sealed[0].Value.Envelope}, {Envelope: sealed[0].Value.Envelope, Context: sealward.Context{"a": "b"}},
	})
	must(t, err)
	must(t, rewrapped[0].Err)
	wantKind(t, rewrapped[1].Err, sealward.ErrDecryptionFailed)
}

func TestOperationsKeepValuesAndBytes(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	key := world.key("AES-256", "data")
	client := world.application("")
	aad := []byte("header")
	ciphertext, err := client.Encrypt(context.Background(), sealward.EncryptRequest{
		Data: sealward.JSON(`{"n": 1.0}`), Algorithm: "AES-256-GCM", AAD: aad,
	})
	must(t, err)
	payload, err := client.Decrypt(context.Background(), sealward.DecryptRequest{Ciphertext: ciphertext, AAD: aad})
	must(t, err)
	if string(payload.JSON()) != `{"n": 1.0}` || ciphertext.KeyID != key.ID {
		t.Errorf("%s under %s", payload.JSON(), ciphertext.KeyID)
	}
	_, err = client.Decrypt(context.Background(), sealward.DecryptRequest{Ciphertext: ciphertext})
	wantKind(t, err, sealward.ErrDecryptionFailed)
	content := []byte{0, 255}
	ciphertext, err = client.Encrypt(context.Background(), sealward.EncryptRequest{Data: content, Algorithm: "AES-256-GCM"})
	must(t, err)
	opened, err := client.DecryptBytes(context.Background(), sealward.DecryptRequest{Ciphertext: ciphertext})
	must(t, err)
	digest, err := client.Hash(context.Background(), sealward.HashRequest{Data: content, Algorithm: "SHA-256"})
	must(t, err)
	if want := sha256.Sum256(content); !bytes.Equal(opened, content) || !bytes.Equal(digest.Hash, want[:]) {
		t.Errorf("%x, %x", opened, digest.Hash)
	}
}

func TestSignaturesAreVerifiedHereAndThere(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	client := world.application("")
	rsa := world.key("RSA-2048", "sig").ID
	keys := map[string]string{
		"RSA-SHA256": rsa, "RSA-SHA384": rsa, "RSA-SHA512": rsa,
		"RSA-PSS-SHA256": rsa, "RSA-PSS-SHA384": rsa, "RSA-PSS-SHA512": rsa,
		"ECDSA-SHA256": world.key("P-256", "sig").ID, "ECDSA-SHA384": world.key("P-384", "sig").ID,
		"ECDSA-SHA512": world.key("P-521", "sig").ID, "Ed25519": world.key("Ed25519", "sig").ID,
	}
	data := []any{"text", []byte{0, 255}, sealward.JSON(`{"b":[1.50,-0,1e21,"\u20ac"],"a":null}`), map[string]any{"ö": 0.1}}
	for algorithm, key := range keys {
		formats := []string{""}
		if algorithm[:2] == "EC" {
			formats = []string{"p1363", "der"}
		}
		for _, format := range formats {
			for _, value := range data {
				signature, err := client.Sign(context.Background(), sealward.SignRequest{
					Data: value, Algorithm: algorithm, KeyID: key, SignatureFormat: format,
				})
				must(t, err)
				request := sealward.VerifyRequest{
					Data: value, Signature: signature.Signature, Algorithm: algorithm, KeyID: key, SignatureFormat: format,
				}
				here, err := client.VerifyLocally(context.Background(), world.service.ID, request)
				must(t, err)
				there, err := client.Verify(context.Background(), request)
				must(t, err)
				request.Signature[len(request.Signature)-1] ^= 1
				changed, err := client.VerifyLocally(context.Background(), world.service.ID, request)
				must(t, err)
				if !here || !there || changed {
					t.Errorf("%s %s %v: valid here %v, there %v, changed %v", algorithm, format, value, here, there, changed)
				}
			}
		}
	}
}

func TestLocalEnvelopesAreOpenedByTheService(t *testing.T) {
	t.Parallel()
	for _, one := range []struct{ key, alg, enc string }{
		{"RSA-2048", "RSA-OAEP", "A128GCM"}, {"RSA-3072", "RSA-OAEP-256", "A256GCM"},
		{"P-256", "ECDH-ES+A128KW", "A128GCM"}, {"P-256", "ECDH-ES+A256KW", "A256GCM"},
		{"P-384", "ECDH-ES+A128KW", "A256GCM"}, {"P-384", "ECDH-ES+A256KW", "A128GCM"},
		{"P-521", "ECDH-ES+A128KW", "A128GCM"}, {"P-521", "ECDH-ES+A256KW", "A256GCM"},
	} {
		one := one
		t.Run(one.key+" "+one.alg, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t)
			world.key(one.key, "enc")
			bound := world.policy(func(policy *admin.NewPolicy) {
				policy.Alg, policy.Enc, policy.RequireBinding = one.alg, one.enc, true
			})
			client := world.application(bound.PolicyNumber)
			for count := 0; count < 4; count++ {
				envelope, err := client.SealLocally(context.Background(), sealward.ProtectRequest{Payload: sealward.JSON(`[1.0]`)})
				must(t, err)
				payload, err := client.Unprotect(context.Background(), sealward.UnprotectRequest{Envelope: envelope})
				must(t, err)
				if string(payload.JSON()) != "[1.0]" {
					t.Errorf("%s", payload.JSON())
				}
			}
		})
	}
}

func TestFilesAreSealedUnderARealPolicy(t *testing.T) {
	t.Parallel()
	client := newWorld(t).protecting()
	folder := t.TempDir()
	plain, sealed, opened := filepath.Join(folder, "plain"), filepath.Join(folder, "sealed"), filepath.Join(folder, "opened")
	content := bytes.Repeat([]byte("text\n"), 300_000)
	must(t, os.WriteFile(plain, content, 0o600))
	options := sealward.FileOptions{Context: sealward.Context{"file": "plain"}}
	must(t, client.EncryptFile(context.Background(), plain, sealed, options))
	must(t, client.DecryptFile(context.Background(), sealed, opened, options))
	got, err := os.ReadFile(opened)
	must(t, err)
	if !bytes.Equal(got, content) {
		t.Error("the file that was opened differs")
	}
	err = client.DecryptFile(context.Background(), sealed, opened, sealward.FileOptions{})
	wantKind(t, err, sealward.ErrDecryptionFailed)
}

func TestColumnsOpenInBatches(t *testing.T) {
	t.Parallel()
	client := newWorld(t).protecting()
	ctx := context.Background()
	column := sealward.NewColumn[*string](client, "customers", "iban", "")
	first, second := "DE02", "DE03"
	envelopes, err := column.SealAll(ctx, []*string{&first, nil, &second})
	must(t, err)
	values, err := column.OpenAll(ctx, envelopes)
	must(t, err)
	if *values[0] != first || values[1] != nil || *values[2] != second {
		t.Errorf("%v", values)
	}
	stored, err := column.Seal(ctx, &first).Value()
	must(t, err)
	var scanned *string
	must(t, column.Open(ctx, &scanned).Scan(stored))
	null, err := column.Seal(ctx, nil).Value()
	must(t, err)
	if *scanned != first || null != nil {
		t.Errorf("%s, %v", *scanned, null)
	}
	must(t, column.Open(ctx, &scanned).Scan(nil))
	if scanned != nil {
		t.Errorf("NULL is %s", *scanned)
	}
	other := sealward.NewColumn[*string](client, "customers", "name", "")
	wantKind(t, other.Open(ctx, &scanned).Scan(stored), sealward.ErrDecryptionFailed)
}

func TestLookUpsAreTyped(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	policy := world.policy(nil)
	client := world.application(policy.PolicyNumber)
	caller, err := client.Caller(context.Background())
	must(t, err)
	if caller.ServiceID != world.service.ID || *caller.PolicyNumber != policy.PolicyNumber || caller.RateLimit.Burst != 20000 {
		t.Errorf("%+v", caller)
	}
	found, err := client.Policy(context.Background(), policy.PolicyNumber)
	must(t, err)
	if found.ID != policy.ID || found.Status != "active" || string(found.Key) != "null" {
		t.Errorf("%+v", found)
	}
	_, err = client.SealLocally(context.Background(), sealward.ProtectRequest{Payload: 1})
	wantKind(t, err, sealward.ErrKeyUnavailable)
	health, err := client.Health(context.Background())
	must(t, err)
	if health.Checks.Database.Status == "" || len(health.Checks.HSM.Tokens) == 0 {
		t.Errorf("%+v", health)
	}
}
