package policies

import (
	"context"

	"sealward.dev/go/admin"
	"sealward.dev/terraform/internal/managed"
	"sealward.dev/terraform/internal/session"
	"sealward.dev/terraform/internal/value"
)

func read(ctx context.Context, s *session.Session, id string) (*admin.Policy, error) {
	return managed.NilIfGone(s.Admin.Policies.Read(ctx, id))
}

// find returns the ID of the policy with a number, which the API takes in the place of an ID.
func find(ctx context.Context, s *session.Session, number string) ([]string, error) {
	found, err := read(ctx, s, number)
	if err != nil || found == nil {
		return nil, err
	}
	return []string{found.ID}, nil
}

func create(ctx context.Context, s *session.Session, plan resourceModel) (*admin.Policy, error) {
	outcome, err := s.Admin.Policies.Create(ctx, admin.NewPolicy{
		PolicyNumber:         plan.PolicyNumber.ValueString(),
		Name:                 plan.Name.ValueString(),
		Description:          plan.Description.ValueString(),
		DestinationServiceID: plan.DestinationServiceID.ValueString(),
		KeyOwnership:         plan.KeyOwnership.ValueString(),
		Alg:                  plan.Alg.ValueString(),
		Enc:                  plan.Enc.ValueString(),
		Status:               plan.Status.ValueString(),
		FailureMode:          plan.FailureMode.ValueString(),
		AllowedServiceIDs:    value.Strings(plan.AllowedServiceIDs),
		AllowedOperations:    value.GivenTexts(plan.AllowedOperations),
		ContextRequired:      plan.ContextRequired.ValueBool(),
		RequireBinding:       plan.RequireBinding.ValueBool(),
		Headers:              plan.Headers.api(),
	})
	return session.AwaitResult(ctx, s, outcome, err, s.Admin.Policies.Read)
}

func update(ctx context.Context, s *session.Session, state, plan resourceModel, unchanged admin.Option) (*admin.Policy, error) {
	changes := admin.PolicyChanges{
		Name:                 value.Text(plan.Name, state.Name),
		Description:          value.Text(plan.Description, state.Description),
		DestinationServiceID: value.Text(plan.DestinationServiceID, state.DestinationServiceID),
		KeyOwnership:         value.Text(plan.KeyOwnership, state.KeyOwnership),
		Alg:                  value.Text(plan.Alg, state.Alg),
		Enc:                  value.Text(plan.Enc, state.Enc),
		Status:               value.Text(plan.Status, state.Status),
		FailureMode:          value.Text(plan.FailureMode, state.FailureMode),
		AllowedServiceIDs:    value.Texts(plan.AllowedServiceIDs, state.AllowedServiceIDs),
		AllowedOperations:    value.Texts(plan.AllowedOperations, state.AllowedOperations),
		ContextRequired:      value.Bool(plan.ContextRequired, state.ContextRequired),
		RequireBinding:       value.Bool(plan.RequireBinding, state.RequireBinding),
		Headers:              value.Object(plan.Headers.api(), state.Headers.api()),
	}
	if value.IsEmpty(changes) {
		return s.Admin.Policies.Read(ctx, plan.Identifier())
	}
	outcome, err := s.Admin.Policies.Update(ctx, plan.Identifier(), changes, unchanged)
	return session.AwaitResult(ctx, s, outcome, err, s.Admin.Policies.Read)
}

func remove(ctx context.Context, s *session.Session, state resourceModel, unchanged admin.Option) error {
	if err := managed.Unprotected(state.DeletionProtection); err != nil {
		return err
	}
	outcome, err := s.Admin.Policies.Delete(ctx, state.Identifier(), unchanged)
	return session.AwaitDeletion(ctx, s, outcome, err)
}
