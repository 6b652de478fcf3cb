// The round trip of a client that oapi-codegen made.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"strconv"
	"time"

	"clients/sealward"
)

var (
	ctx       = context.Background()
	requestID = "oapi-codegen " + strconv.FormatInt(time.Now().UnixNano(), 10)
	admin     = connect(os.Getenv("SEALWARD_ADMIN_KEY"))
	runtime   *sealward.ClientWithResponses
)

func main() {
	service := created(admin.CreateServiceWithResponse(ctx, nil, sealward.NewService{Name: requestID})).JSON201
	imported := createKeys(service)
	policy := created(admin.CreatePolicyWithResponse(ctx, nil, sealward.NewPolicy{
		Name:                 requestID,
		DestinationServiceId: service.Id,
		Alg:                  pointer(sealward.KeyWrappingAlgorithm("ECDH-ES+A256KW")),
		AllowedServiceIds:    []string{service.Id},
	})).JSON201
	apiKey := created(admin.CreateApiKeyWithResponse(ctx, nil, sealward.NewApiKey{
		Name:         requestID,
		Type:         "test",
		ServiceId:    &service.Id,
		PolicyNumber: &policy.PolicyNumber,
	})).JSON201
	runtime = connect(*apiKey.Secret)
	protectAndUnprotect()
	encryptAndDecrypt()
	signAndVerify()
	hash()
	refuse(imported)
	update(service)
	audit(service)
}

func connect(key string) *sealward.ClientWithResponses {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+key)
		return nil
	}
	return must(sealward.NewClientWithResponses(os.Getenv("SEALWARD_URL"), sealward.WithRequestEditorFn(authorize)))
}

func createKeys(service *sealward.Service) *sealward.Key {
	for _, algorithm := range []sealward.KeyAlgorithm{"P-256", "AES-256", "Ed25519"} {
		key := created(admin.CreateKeyWithResponse(ctx, nil, sealward.NewKey{
			ServiceId: service.Id,
			Generate:  pointer(true),
			Algorithm: &algorithm,
		}))
		check(key.JSON201.Algorithm, string(algorithm))
	}
	jwk := sealward.Jwk{
		Kty: "EC",
		Crv: pointer("P-256"),
		X:   pointer("MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4"),
		Y:   pointer("4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"),
		Kid: pointer("partner-1"),
	}
	var source sealward.PemOrJwk
	succeed(source.FromJwk(jwk))
	imported := created(admin.CreateKeyWithResponse(ctx, nil, sealward.NewKey{
		ServiceId: service.Id,
		Use:       pointer(sealward.KeyUse("sig")),
		PublicKey: &source,
	})).JSON201
	check(*imported.PublicKey.X, *jwk.X)
	check(*imported.PartnerKid, "partner-1")
	return imported
}

func protectAndUnprotect() {
	payload := map[string]any{"card": "4111 1111 1111 1111", "amount": 12.5}
	public := sealward.Context{"tenant": "acme"}
	envelope := must(runtime.ProtectWithResponse(ctx, &sealward.ProtectParams{XRequestId: &requestID},
		sealward.ProtectRequest{Payload: payload, Context: &public}))
	check(envelope.StatusCode(), http.StatusOK)
	opened := must(runtime.UnprotectWithResponse(ctx, &sealward.UnprotectParams{XRequestId: &requestID},
		sealward.UnprotectRequest{Jwe: envelope.JSON200.Jwe, Context: &public}))
	check(opened.StatusCode(), http.StatusOK)
	check(opened.JSON200.Payload, any(payload))
}

func encryptAndDecrypt() {
	var request sealward.OperationRequest
	succeed(request.FromEncryptRequest(sealward.EncryptRequest{
		Payload: sealward.EncryptPayload{Data: "secret", Algorithm: "AES-256-GCM"},
	}))
	made := operate(request).JSON200.Result
	succeed(request.FromDecryptRequest(sealward.DecryptRequest{Payload: sealward.DecryptPayload{
		Ciphertext: *made.Ciphertext,
		Iv:         *made.Iv,
		Tag:        *made.Tag,
		Algorithm:  "AES-256-GCM",
		KeyId:      *made.KeyId,
	}}))
	check(operate(request).JSON200.Result.Data, any("secret"))
}

func signAndVerify() {
	var request sealward.OperationRequest
	succeed(request.FromSignRequest(sealward.SignRequest{
		Payload: sealward.SignPayload{Data: "message", Algorithm: "Ed25519"},
	}))
	made := operate(request).JSON200.Result
	succeed(request.FromVerifyRequest(sealward.VerifyRequest{Payload: sealward.VerifyPayload{
		Data:      "message",
		Signature: *made.Signature,
		Algorithm: "Ed25519",
		KeyId:     *made.KeyId,
	}}))
	check(*operate(request).JSON200.Result.Valid, true)
}

func hash() {
	var request sealward.OperationRequest
	succeed(request.FromHashRequest(sealward.HashRequest{
		Payload: sealward.HashPayload{Data: "abc", Algorithm: "SHA-256"},
	}))
	hashed := operate(request).JSON200.Result
	check(*hashed.Algorithm, "SHA-256")
	check(len(*hashed.Hash), 32)
}

func operate(request sealward.OperationRequest) *sealward.OperateResponse {
	return must(runtime.OperateWithResponse(ctx, &sealward.OperateParams{XRequestId: &requestID}, request))
}

// An error has the one schema of all errors.
func refuse(imported *sealward.Key) {
	var request sealward.OperationRequest
	succeed(request.FromSignRequest(sealward.SignRequest{
		Payload: sealward.SignPayload{Data: "message", Algorithm: "Ed25519", KeyId: &imported.Id},
	}))
	refused := operate(request)
	check(refused.StatusCode(), http.StatusBadRequest)
	check(refused.JSON400.Error.Code, "INVALID_REQUEST")
	check((*refused.JSON400.Error.Details)[0].Field, "payload.algorithm")
}

// The resource that GET returned is changed and sent back by PUT.
func update(before *sealward.Service) {
	service := must(admin.ReadServiceWithResponse(ctx, before.Id, nil)).JSON200
	var changes sealward.ServiceChanges
	succeed(json.Unmarshal(must(json.Marshal(service)), &changes))
	check(*changes.Id, before.Id)
	changes.Description = pointer("edited")
	updated := must(admin.UpdateServiceWithResponse(ctx, before.Id, nil, changes))
	check(updated.StatusCode(), http.StatusOK)
	check(*updated.JSON200.Description, "edited")
	check(updated.JSON200.Name, before.Name)
}

func audit(service *sealward.Service) {
	page := must(admin.ListAuditWithResponse(ctx, &sealward.ListAuditParams{
		Limit:         pointer(20),
		RequestId:     &requestID,
		ApplicationId: &service.Id,
	})).JSON200
	check(len(page.Items), 8)
	check(*page.Items[7].OperationType, "encrypt")
	check(page.Items[0].ResponseStatus, 400)
	check(page.NextCursor, nil)
}

func created[T interface{ StatusCode() int }](answer T, err error) T {
	check(must(answer, err).StatusCode(), http.StatusCreated)
	return answer
}

func pointer[T any](value T) *T { return &value }

func must[T any](value T, err error) T {
	succeed(err)
	return value
}

func succeed(err error) {
	if err != nil {
		panic(err)
	}
}

func check[T any](found, expected T) {
	if !reflect.DeepEqual(found, expected) {
		panic(fmt.Sprintf("found %v instead of %v", found, expected))
	}
}
