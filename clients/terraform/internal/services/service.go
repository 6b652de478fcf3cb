// Package services has the resource and the data source sealward_service.
package services

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"sealward.dev/go"
	"sealward.dev/go/admin"
	"sealward.dev/terraform/internal/managed"
	"sealward.dev/terraform/internal/session"
	"sealward.dev/terraform/internal/value"
)

// Kind is the kind of services.
var Kind = managed.Kind[service, admin.Service]{
	Name: "service", Noun: "service", Schema: attributes, IDPrefix: "svc_",
	Read:   read,
	Create: create, Update: update, Delete: remove,
	Find: func(ctx context.Context, s *session.Session, name string) ([]string, error) {
		return managed.IDs(ctx, s.Admin.Services.List(admin.ServiceFilter{Name: name}), func(found *admin.Service) string { return found.ID })
	},
	ETag: func(found *admin.Service) string { return found.ETag },
}

// NewResource returns the resource.
var NewResource = managed.NewResource[service](Kind)

// NewDataSource returns the data source.
var NewDataSource = managed.NewDataSource[service, admin.Service, *service](Kind, "name")

// enterprise is the tier whose rate limit is stated.
const enterprise = "enterprise"

type service struct {
	ID          types.String      `tfsdk:"id"`
	Name        types.String      `tfsdk:"name"`
	Description types.String      `tfsdk:"description"`
	Status      types.String      `tfsdk:"status"`
	Tier        types.String      `tfsdk:"tier"`
	RateLimit   *rateLimit        `tfsdk:"rate_limit"`
	PublishKeys types.Bool        `tfsdk:"publish_keys"`
	CreatedAt   timetypes.RFC3339 `tfsdk:"created_at"`
}

type rateLimit struct {
	RequestsPerSecond types.Int64 `tfsdk:"requests_per_second"`
	Burst             types.Int64 `tfsdk:"burst"`
}

func (r *rateLimit) api() *sealward.RateLimit {
	if r == nil {
		return nil
	}
	return &sealward.RateLimit{RequestsPerSecond: int(r.RequestsPerSecond.ValueInt64()), Burst: int(r.Burst.ValueInt64())}
}

// Identifier returns the ID.
func (m *service) Identifier() string { return m.ID.ValueString() }

// Fill takes the values of the API. The rate limit of another tier than enterprise belongs to the tier.
func (m *service) Fill(found *admin.Service) diag.Diagnostics {
	m.ID = types.StringValue(found.ID)
	m.Name = types.StringValue(found.Name)
	m.Description = types.StringPointerValue(found.Description)
	m.Status = types.StringValue(found.Status)
	m.Tier = types.StringValue(found.Tier)
	m.RateLimit = nil
	if found.Tier == enterprise {
		m.RateLimit = &rateLimit{
			RequestsPerSecond: types.Int64Value(int64(found.RateLimit.RequestsPerSecond)),
			Burst:             types.Int64Value(int64(found.RateLimit.Burst)),
		}
	}
	m.PublishKeys = types.BoolValue(found.PublishKeys)
	m.CreatedAt = value.TimeText(m.CreatedAt, &found.CreatedAt)
	return nil
}

func read(ctx context.Context, s *session.Session, id string) (*admin.Service, error) {
	return managed.NilIfGone(s.Admin.Services.Read(ctx, id))
}

func create(ctx context.Context, s *session.Session, plan service) (*admin.Service, error) {
	outcome, err := s.Admin.Services.Create(ctx, admin.NewService{
		Name: plan.Name.ValueString(), Description: plan.Description.ValueString(), Status: plan.Status.ValueString(),
		Tier: plan.Tier.ValueString(), RateLimit: plan.RateLimit.api(), PublishKeys: plan.PublishKeys.ValueBool(),
	})
	return session.AwaitResult(ctx, s, outcome, err, s.Admin.Services.Read)
}

func update(ctx context.Context, s *session.Session, state, plan service, unchanged admin.Option) (*admin.Service, error) {
	changes := admin.ServiceChanges{
		Name:        value.Text(plan.Name, state.Name),
		Description: value.Text(plan.Description, state.Description),
		Status:      value.Text(plan.Status, state.Status),
		Tier:        value.Text(plan.Tier, state.Tier),
		PublishKeys: value.Bool(plan.PublishKeys, state.PublishKeys),
	}
	// The rate limit of another tier is that of the tier, which null would refuse.
	if plan.RateLimit != nil {
		changes.RateLimit = value.Object(plan.RateLimit.api(), state.RateLimit.api())
	}
	outcome, err := s.Admin.Services.Update(ctx, plan.Identifier(), changes, unchanged)
	return session.AwaitResult(ctx, s, outcome, err, s.Admin.Services.Read)
}

func remove(ctx context.Context, s *session.Session, state service, unchanged admin.Option) error {
	outcome, err := s.Admin.Services.Delete(ctx, state.Identifier(), unchanged)
	return session.AwaitDeletion(ctx, s, outcome, err)
}
