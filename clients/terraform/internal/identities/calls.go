package identities

import (
	"context"
	"errors"

	"sealward.dev/go/admin"
	"sealward.dev/terraform/internal/managed"
	"sealward.dev/terraform/internal/session"
	"sealward.dev/terraform/internal/value"
)

var errClaims = errors.New("match.claims is not a JSON object")

func read(ctx context.Context, s *session.Session, id string) (*admin.Identity, error) {
	return managed.NilIfGone(s.Admin.Identities.Read(ctx, id))
}

func find(ctx context.Context, s *session.Session, name string) ([]string, error) {
	return managed.IDs(ctx, s.Admin.Identities.List(admin.IdentityFilter{Name: name}), func(found *admin.Identity) string { return found.ID })
}

func create(ctx context.Context, s *session.Session, plan identity) (*admin.Identity, error) {
	wanted, err := plan.Match.api()
	if err != nil {
		return nil, err
	}
	outcome, err := s.Admin.Identities.Create(ctx, admin.NewIdentity{
		Name: plan.Name.ValueString(), ServiceID: plan.ServiceID.ValueString(), PolicyNumber: plan.PolicyNumber.ValueString(),
		AllowedOperations: value.GivenTexts(plan.AllowedOperations), Match: *wanted, Status: plan.Status.ValueString(),
	})
	return session.AwaitResult(ctx, s, outcome, err, s.Admin.Identities.Read)
}

func update(ctx context.Context, s *session.Session, state, plan identity, unchanged admin.Option) (*admin.Identity, error) {
	before, err := state.Match.api()
	if err != nil {
		return nil, err
	}
	after, err := plan.Match.api()
	if err != nil {
		return nil, err
	}
	changes := admin.IdentityChanges{
		Name:              value.Text(plan.Name, state.Name),
		PolicyNumber:      value.Text(plan.PolicyNumber, state.PolicyNumber),
		AllowedOperations: value.Texts(plan.AllowedOperations, state.AllowedOperations),
		Match:             value.Object(after, before),
		Status:            value.Text(plan.Status, state.Status),
	}
	outcome, err := s.Admin.Identities.Update(ctx, plan.Identifier(), changes, unchanged)
	return session.AwaitResult(ctx, s, outcome, err, s.Admin.Identities.Read)
}

func remove(ctx context.Context, s *session.Session, state identity, unchanged admin.Option) error {
	outcome, err := s.Admin.Identities.Delete(ctx, state.Identifier(), unchanged)
	return session.AwaitDeletion(ctx, s, outcome, err)
}
