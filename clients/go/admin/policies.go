package admin

import (
	"context"
	"net/http"
	"time"

	"sealward.dev/go"
)

// Policies define how payloads are protected, and who can protect and open them. Their ID in a call can also be the
// policy number.
type Policies struct {
	collection[Policy, NewPolicy, Policy, PolicyChanges, PolicyFilter]
}

// Restore brings a deleted policy back as inactive, with changes.
func (p Policies) Restore(ctx context.Context, id string, changes PolicyChanges, options ...Option) (Outcome[Policy], error) {
	return change[Policy](ctx, p.caller, http.MethodPost, segment(p.path, id, "restore"), changes, options)
}

// Policy is a policy.
type Policy struct {
	Revision
	ID                   string                    `json:"id"`
	PolicyNumber         string                    `json:"policyNumber"`
	Name                 string                    `json:"name"`
	Description          *string                   `json:"description"`
	DestinationServiceID string                    `json:"destinationServiceId"`
	KeyOwnership         string                    `json:"keyOwnership"`
	Alg                  string                    `json:"alg"`
	Enc                  string                    `json:"enc"`
	Status               string                    `json:"status"`
	FailureMode          string                    `json:"failureMode"`
	AllowedServiceIDs    []string                  `json:"allowedServiceIds"`
	AllowedOperations    []string                  `json:"allowedOperations"`
	ContextRequired      bool                      `json:"contextRequired"`
	RequireBinding       bool                      `json:"requireBinding"`
	Headers              *sealward.EnvelopeHeaders `json:"headers"`
	SealValid            *bool                     `json:"sealValid,omitempty"`
	CreatedAt            time.Time                 `json:"createdAt"`
	UpdatedAt            time.Time                 `json:"updatedAt"`
}

// NewPolicy creates a policy. AllowedServiceIDs is required; []string{"*"} allows any service.
type NewPolicy struct {
	PolicyNumber         string                    `json:"policyNumber,omitempty"`
	Name                 string                    `json:"name"`
	Description          string                    `json:"description,omitempty"`
	DestinationServiceID string                    `json:"destinationServiceId"`
	KeyOwnership         string                    `json:"keyOwnership,omitempty"`
	Alg                  string                    `json:"alg,omitempty"`
	Enc                  string                    `json:"enc,omitempty"`
	Status               string                    `json:"status,omitempty"`
	FailureMode          string                    `json:"failureMode,omitempty"`
	AllowedServiceIDs    []string                  `json:"allowedServiceIds"`
	AllowedOperations    Optional[[]string]        `json:"allowedOperations,omitempty"`
	ContextRequired      bool                      `json:"contextRequired,omitempty"`
	RequireBinding       bool                      `json:"requireBinding,omitempty"`
	Headers              *sealward.EnvelopeHeaders `json:"headers,omitempty"`
}

// PolicyChanges changes or restores a policy.
type PolicyChanges struct {
	PolicyNumber         Optional[string]                   `json:"policyNumber,omitempty"`
	Name                 Optional[string]                   `json:"name,omitempty"`
	Description          Optional[string]                   `json:"description,omitempty"`
	DestinationServiceID Optional[string]                   `json:"destinationServiceId,omitempty"`
	KeyOwnership         Optional[string]                   `json:"keyOwnership,omitempty"`
	Alg                  Optional[string]                   `json:"alg,omitempty"`
	Enc                  Optional[string]                   `json:"enc,omitempty"`
	Status               Optional[string]                   `json:"status,omitempty"`
	FailureMode          Optional[string]                   `json:"failureMode,omitempty"`
	AllowedServiceIDs    Optional[[]string]                 `json:"allowedServiceIds,omitempty"`
	AllowedOperations    Optional[[]string]                 `json:"allowedOperations,omitempty"`
	ContextRequired      Optional[bool]                     `json:"contextRequired,omitempty"`
	RequireBinding       Optional[bool]                     `json:"requireBinding,omitempty"`
	Headers              Optional[sealward.EnvelopeHeaders] `json:"headers,omitempty"`
}

// PolicyFilter selects policies.
type PolicyFilter struct {
	Limit                int
	Name                 string
	NameContains         string
	Status               string
	DestinationServiceID string
	// Deleted selects the policies that were deleted and go on deciding about their envelopes.
	Deleted bool
}

func (f PolicyFilter) query() (q query) {
	q.addNumber("limit", f.Limit)
	q.add("name", f.Name)
	q.add("nameContains", f.NameContains)
	q.add("status", f.Status)
	q.add("destinationServiceId", f.DestinationServiceID)
	if f.Deleted {
		q.add("deleted", "true")
	}
	return q
}
