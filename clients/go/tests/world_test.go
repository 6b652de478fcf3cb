package tests

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"testing"

	"sealward.dev/go"
	"sealward.dev/go/admin"
)

// world is a real service, with a calling service of its own for one test.
type world struct {
	t          *testing.T
	url        string
	management *admin.Client
	service    *admin.Service
}

// newWorld uses the service that SEALWARD_URL and SEALWARD_ADMIN_KEY name, as ./dev up writes them.
func newWorld(t *testing.T) *world {
	t.Helper()
	url, key := os.Getenv("SEALWARD_URL"), os.Getenv("SEALWARD_ADMIN_KEY")
	if url == "" || key == "" {
		t.Fatal("the live tests need a service: set SEALWARD_URL and SEALWARD_ADMIN_KEY")
	}
	client, err := sealward.New(sealward.Options{URL: url, Credentials: sealward.APIKey(key)})
	must(t, err)
	made := &world{t: t, url: url, management: admin.New(client)}
	made.service = doneOf[admin.Service](t)(made.management.Services.Create(context.Background(), admin.NewService{
		Name: unique("go"), PublishKeys: true, Tier: "enterprise",
		RateLimit: &sealward.RateLimit{RequestsPerSecond: 10000, Burst: 20000},
	}))
	return made
}

// doneOf returns the resource of a change that was made.
func doneOf[R any](t *testing.T) func(admin.Outcome[R], error) *R {
	return func(outcome admin.Outcome[R], err error) *R {
		t.Helper()
		must(t, err)
		made, isDone := outcome.Done()
		if !isDone {
			t.Fatal("the change waits for approval")
		}
		return made
	}
}

// key generates a key of the service.
func (w *world) key(algorithm, use string) *admin.Key {
	w.t.Helper()
	return doneOf[admin.Key](w.t)(w.management.Keys.Create(context.Background(), admin.NewKey{
		ServiceID: w.service.ID, Name: unique("key"), Algorithm: algorithm, Use: use, Generate: true,
	}))
}

// policy creates a policy with the service as its destination and only caller.
func (w *world) policy(change func(*admin.NewPolicy)) *admin.Policy {
	w.t.Helper()
	policy := admin.NewPolicy{
		Name: "a policy", PolicyNumber: unique("GO"), DestinationServiceID: w.service.ID,
		AllowedServiceIDs: []string{w.service.ID},
	}
	if change != nil {
		change(&policy)
	}
	return doneOf[admin.Policy](w.t)(w.management.Policies.Create(context.Background(), policy))
}

// application returns a client with an API key that is bound to the policy.
func (w *world) application(policyNumber string) *sealward.Client {
	w.t.Helper()
	key := doneOf[admin.CreatedAPIKey](w.t)(w.management.APIKeys.Create(context.Background(), admin.NewAPIKey{
		Name: unique("key"), Type: "test", ServiceID: w.service.ID, PolicyNumber: policyNumber,
	}))
	client, err := sealward.New(sealward.Options{URL: w.url, Credentials: sealward.APIKey(key.Secret.Reveal())})
	must(w.t, err)
	w.t.Cleanup(client.Close)
	return client
}

// protecting returns a client that can protect and open.
func (w *world) protecting() *sealward.Client {
	w.t.Helper()
	w.key("P-256", "enc")
	return w.application(w.policy(func(policy *admin.NewPolicy) { policy.Alg = "ECDH-ES+A256KW" }).PolicyNumber)
}

func unique(name string) string {
	var random [6]byte
	if _, err := rand.Read(random[:]); err != nil {
		panic(err)
	}
	return name + "-" + hex.EncodeToString(random[:])
}

func wantKind(t *testing.T, err error, kind sealward.Kind) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("the error is %v, want %s", err, kind)
	}
}
