package tests

import (
	"context"
	"testing"

	"sealward.dev/go"
	"sealward.dev/go/admin"
)

func TestResourcesAreCreatedChangedAndDeleted(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	world := newWorld(t)
	services := world.management.Services
	read, err := services.Read(ctx, world.service.ID)
	must(t, err)
	if read.ETag == "" || read.Name != world.service.Name || read.Description != nil {
		t.Errorf("%+v", read)
	}
	changed := doneOf[admin.Service](t)(services.Update(ctx, read.ID, admin.ServiceChanges{Description: admin.Set("till")}, admin.IfMatch(read.ETag)))
	_, err = services.Update(ctx, read.ID, admin.ServiceChanges{Description: admin.Null[string]()}, admin.IfMatch(read.ETag))
	wantKind(t, err, sealward.ErrPreconditionFailed)
	cleared := doneOf[admin.Service](t)(services.Put(ctx, read.ID, admin.ServiceChanges{Description: admin.Null[string]()}, admin.IfMatch(changed.ETag)))
	if *changed.Description != "till" || cleared.Description != nil {
		t.Errorf("%v, %v", *changed.Description, cleared.Description)
	}
	doneOf[admin.Nothing](t)(services.Delete(ctx, read.ID))
	_, err = services.Read(ctx, read.ID)
	wantKind(t, err, sealward.ErrNotFound)
}

func TestAFrozenDestinationIsRefused(t *testing.T) {
	t.Parallel()
	world, partner := newWorld(t), newWorld(t)
	partner.key("P-256", "enc")
	client := world.application(world.policy(func(policy *admin.NewPolicy) {
		policy.Alg, policy.DestinationServiceID = "ECDH-ES+A256KW", partner.service.ID
	}).PolicyNumber)
	frozen := admin.ServiceChanges{Status: admin.Set("frozen")}
	doneOf[admin.Service](t)(world.management.Services.Update(context.Background(), partner.service.ID, frozen))
	_, err := client.Protect(context.Background(), sealward.ProtectRequest{Payload: 1})
	wantKind(t, err, sealward.ErrFrozen)
	_, err = client.SealLocally(context.Background(), sealward.ProtectRequest{Payload: 1})
	wantKind(t, err, sealward.ErrFrozen)
}

func TestADeletedPolicyIsRestored(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	world := newWorld(t)
	policy := world.policy(nil)
	doneOf[admin.Nothing](t)(world.management.Policies.Delete(ctx, policy.ID))
	deleted := world.management.Policies.List(admin.PolicyFilter{Deleted: true, DestinationServiceID: world.service.ID})
	found, err := deleted.All(ctx)
	must(t, err)
	restored := doneOf[admin.Policy](t)(world.management.Policies.Restore(ctx, policy.ID, admin.PolicyChanges{Name: admin.Set("again")}))
	if len(found) != 1 || restored.Status != "inactive" || restored.Name != "again" {
		t.Errorf("%d deleted policies, %+v", len(found), restored)
	}
}

func TestThePagerReadsEveryPage(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	world := newWorld(t)
	want := map[string]bool{}
	for count := 0; count < 5; count++ {
		want[world.key("AES-128", "data").ID] = true
	}
	keys, err := world.management.Keys.List(admin.KeyFilter{ServiceID: world.service.ID, Limit: 2}).All(ctx)
	must(t, err)
	for _, key := range keys {
		delete(want, key.ID)
	}
	if len(keys) != 5 || len(want) != 0 {
		t.Errorf("%d keys, missing %v", len(keys), want)
	}
}

func TestTheAuditLogIsExported(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	client := world.protecting()
	id := unique("request")
	ctx := sealward.ContextWithRequestID(context.Background(), id)
	protected, err := client.Protect(ctx, sealward.ProtectRequest{Payload: 1})
	must(t, err)
	if protected.RequestID != id {
		t.Errorf("the request ID is %s", protected.RequestID)
	}
	stream, err := world.management.Audit.Export(context.Background(), admin.AuditFilter{RequestID: id})
	must(t, err)
	defer stream.Close()
	var records []admin.AuditRecord
	for stream.Next() {
		records = append(records, *stream.Item())
	}
	must(t, stream.Err())
	if len(records) != 1 || records[0].Outcome != "done" || *records[0].ApplicationID != world.service.ID {
		t.Errorf("%+v", records)
	}
	events, err := world.management.Events.List(admin.EventFilter{ResourceID: world.service.ID}).All(context.Background())
	must(t, err)
	if len(events) != 1 || events[0].Action != "create" {
		t.Errorf("%+v", events)
	}
	checkpoint, err := world.management.Audit.Checkpoint(context.Background(), "management")
	must(t, err)
	if checkpoint == "" {
		t.Error("the checkpoint is empty")
	}
}

// A repeat with the same key is the same creation, and its secret is not shown again.
func TestAnIdempotentRepeatHasNoSecondEffect(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	world := newWorld(t)
	wanted := admin.NewAPIKey{Name: "till", Type: "test", ServiceID: world.service.ID}
	again := admin.IdempotencyKey(unique("create"))
	first := doneOf[admin.CreatedAPIKey](t)(world.management.APIKeys.Create(ctx, wanted, again))
	second := doneOf[admin.CreatedAPIKey](t)(world.management.APIKeys.Create(ctx, wanted, again))
	keys, err := world.management.APIKeys.List(admin.APIKeyFilter{ServiceID: world.service.ID}).All(ctx)
	must(t, err)
	if first.ID != second.ID || first.Secret == nil || second.Secret != nil || len(keys) != 1 {
		t.Errorf("%+v, %+v, %d keys", first, second, len(keys))
	}
	wanted.Name = "other"
	_, err = world.management.APIKeys.Create(ctx, wanted, again)
	wantKind(t, err, sealward.ErrConflict)
}

func TestAKeyIsImported(t *testing.T) {
	t.Parallel()
	world := newWorld(t)
	key := doneOf[admin.Key](t)(world.management.Keys.Create(context.Background(), admin.NewKey{
		ServiceID: world.service.ID, Name: "imported", Algorithm: "AES-128",
		SecretKey: admin.NewSecretText("AAECAwQFBgcICQoLDA0ODw=="),
	}))
	if key.Origin != "imported" || key.Use != "data" || !key.HasPrivate {
		t.Errorf("%+v", key)
	}
}
