// Package managed makes resources and data sources of the kinds of resources of the management API.
package managed

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"sealward.dev/go/admin"
	"sealward.dev/terraform/internal/session"
)

// Kind is a kind of resource: M is its model in a configuration, and R the resource of the API.
type Kind[M, R any] struct {
	// Name follows sealward_ in a configuration.
	Name string
	// Noun names the resource in errors.
	Noun   string
	Schema schema.Schema

	// Read returns nothing if the resource does not exist.
	Read   func(ctx context.Context, s *session.Session, id string) (*R, error)
	Create func(ctx context.Context, s *session.Session, plan M) (*R, error)
	Update func(ctx context.Context, s *session.Session, state, plan M, unchanged admin.Option) (*R, error)
	Delete func(ctx context.Context, s *session.Session, state M, unchanged admin.Option) error
	// Find returns the IDs of the resources with a name, or with a number.
	Find func(ctx context.Context, s *session.Session, name string) ([]string, error)
	// IDPrefix distinguishes an ID from a name.
	IDPrefix string
	// ETag returns the revision of a resource.
	ETag func(*R) string
}

// Model is a pointer to a model.
type Model[M, R any] interface {
	*M
	// Fill takes the values of the API.
	Fill(*R) diag.Diagnostics
	// Identifier returns the ID of the API.
	Identifier() string
}

// NilIfGone turns the error for a resource that does not exist into nothing.
func NilIfGone[R any](found *R, err error) (*R, error) {
	if session.IsGone(err) {
		return nil, nil
	}
	return found, err
}

// IDs returns the IDs of all resources that a pager returns.
func IDs[R any](ctx context.Context, pager *admin.Pager[R], id func(*R) string) ([]string, error) {
	var ids []string
	for pager.Next(ctx) {
		ids = append(ids, id(pager.Item()))
	}
	return ids, pager.Err()
}
