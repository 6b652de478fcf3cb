package apikeys

import (
	"context"

	"sealward.dev/go/admin"
	"sealward.dev/terraform/internal/managed"
	"sealward.dev/terraform/internal/session"
	"sealward.dev/terraform/internal/value"
)

// read returns nothing for a revoked key, whose record stays.
func read(ctx context.Context, s *session.Session, id string) (*admin.APIKey, error) {
	found, err := managed.NilIfGone(s.Admin.APIKeys.Read(ctx, id))
	if found != nil && isRevoked(found) {
		return nil, err
	}
	return found, err
}

func isRevoked(key *admin.APIKey) bool { return key.Status == "revoked" }

// find leaves revoked keys out, because a new key often has the name of a revoked one.
func find(ctx context.Context, s *session.Session, name string) ([]string, error) {
	keys, err := s.Admin.APIKeys.List(admin.APIKeyFilter{Name: name}).All(ctx)
	var ids []string
	for index := range keys {
		if !isRevoked(&keys[index]) {
			ids = append(ids, keys[index].ID)
		}
	}
	return ids, err
}

func create(ctx context.Context, s *session.Session, plan apiKey) (*admin.APIKey, error) {
	outcome, err := s.Admin.APIKeys.Create(ctx, admin.NewAPIKey{
		Name:              plan.Name.ValueString(),
		Type:              plan.Type.ValueString(),
		ServiceID:         plan.ServiceID.ValueString(),
		PolicyNumber:      plan.PolicyNumber.ValueString(),
		AllowedOperations: value.GivenTexts(plan.AllowedOperations),
		AllowedCIDRs:      value.GivenTexts(plan.AllowedCIDRs),
		CertificateSHA256: value.GivenText(plan.CertificateSHA256),
		Roles:             value.GivenTexts(plan.Roles),
		Person:            value.GivenText(plan.Person),
		ExpiresAt:         value.Moment(plan.ExpiresAt),
	})
	if err != nil {
		return nil, err
	}
	if made, isDone := outcome.Done(); isDone {
		s.KeepSecret(made.ID, made.Secret)
		return &made.APIKey, nil
	}
	change, _ := outcome.Pending()
	id, err := s.AwaitApproval(ctx, change)
	if err != nil {
		return nil, err
	}
	s.KeepSecret(id, change.Secret)
	return session.ReadApplied(ctx, id, s.Admin.APIKeys.Read)
}

func update(ctx context.Context, s *session.Session, state, plan apiKey, unchanged admin.Option) (*admin.APIKey, error) {
	outcome, err := s.Admin.APIKeys.Update(ctx, plan.Identifier(), admin.APIKeyChanges{
		Name:              value.Text(plan.Name, state.Name),
		PolicyNumber:      value.Text(plan.PolicyNumber, state.PolicyNumber),
		AllowedOperations: value.Texts(plan.AllowedOperations, state.AllowedOperations),
		AllowedCIDRs:      value.Texts(plan.AllowedCIDRs, state.AllowedCIDRs),
		CertificateSHA256: value.Text(plan.CertificateSHA256, state.CertificateSHA256),
		Roles:             value.Texts(plan.Roles, state.Roles),
		ExpiresAt:         value.Time(plan.ExpiresAt, state.ExpiresAt),
	}, unchanged)
	return session.AwaitResult(ctx, s, outcome, err, s.Admin.APIKeys.Read)
}

func remove(ctx context.Context, s *session.Session, state apiKey, unchanged admin.Option) error {
	outcome, err := s.Admin.APIKeys.Delete(ctx, state.Identifier(), unchanged)
	return session.AwaitDeletion(ctx, s, outcome, err)
}
