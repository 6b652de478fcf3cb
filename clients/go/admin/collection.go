package admin

import (
	"context"
	"net/http"
)

// collection is the calls that the resources have in common: R is the resource, N what creates it, M what its creation
// answers, C its changes and F its filter.
type collection[R, N, M, C any, F filter] struct {
	caller caller
	path   string
}

// List returns a pager over the resources that a filter selects.
func (c collection[R, N, M, C, F]) List(filter F) *Pager[R] {
	return &Pager[R]{caller: c.caller, path: c.path, query: filter.query()}
}

// Create creates a resource.
func (c collection[R, N, M, C, F]) Create(ctx context.Context, resource N, options ...Option) (Outcome[M], error) {
	return change[M](ctx, c.caller, http.MethodPost, c.path, resource, options)
}

// Read returns a resource.
func (c collection[R, N, M, C, F]) Read(ctx context.Context, id string) (*R, error) {
	return read[R](ctx, c.caller, segment(c.path, id))
}

// Update changes the members of a resource that are set, as a JSON merge patch.
func (c collection[R, N, M, C, F]) Update(ctx context.Context, id string, changes C, options ...Option) (Outcome[R], error) {
	return change[R](ctx, c.caller, http.MethodPatch, segment(c.path, id), changes, options)
}

// Put changes the members of a resource that are set, like Update. Null keeps the value of a member that cannot be null.
func (c collection[R, N, M, C, F]) Put(ctx context.Context, id string, changes C, options ...Option) (Outcome[R], error) {
	return change[R](ctx, c.caller, http.MethodPut, segment(c.path, id), changes, options)
}

// Delete deletes a service, a policy or an identity, revokes an API key, and schedules the destruction of a key.
func (c collection[R, N, M, C, F]) Delete(ctx context.Context, id string, options ...Option) (Outcome[Nothing], error) {
	return change[Nothing](ctx, c.caller, http.MethodDelete, segment(c.path, id), nil, options)
}
