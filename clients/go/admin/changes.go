package admin

import (
	"context"
	"net/http"
	"time"

	"sealward.dev/go"
)

// Changes are the changes that wait for approval, or waited for it.
type Changes struct{ caller caller }

// List returns a pager over the changes that a filter selects.
func (c Changes) List(filter ChangeFilter) *Pager[Change] {
	return &Pager[Change]{caller: c.caller, path: "/admin/changes", query: filter.query()}
}

// Read returns a change.
func (c Changes) Read(ctx context.Context, id string) (*Change, error) {
	return read[Change](ctx, c.caller, segment("/admin/changes", id))
}

// Approve approves a change. The last approval that it needs applies it.
func (c Changes) Approve(ctx context.Context, id, comment string, options ...Option) (*Change, error) {
	return decide[Change](ctx, c.caller, segment("/admin/changes", id, "approve"), Decision{comment}, options)
}

// Reject rejects a change.
func (c Changes) Reject(ctx context.Context, id, comment string, options ...Option) (*Change, error) {
	return decide[Change](ctx, c.caller, segment("/admin/changes", id, "reject"), Decision{comment}, options)
}

// Withdraw withdraws a change of the caller.
func (c Changes) Withdraw(ctx context.Context, id string) error {
	_, err := c.caller.send(ctx, http.MethodDelete, segment("/admin/changes", id), nil, nil)
	return err
}

// Decision is the comment of an approval or a rejection.
type Decision struct {
	Comment string `json:"comment,omitempty"`
}

// Change is a change that needs approval.
type Change struct {
	ID           string        `json:"id"`
	Action       []string      `json:"action"`
	Summary      string        `json:"summary"`
	ProposedBy   Proposer      `json:"proposedBy"`
	ProposedAt   time.Time     `json:"proposedAt"`
	ExpiresAt    time.Time     `json:"expiresAt"`
	Required     int           `json:"required"`
	Approvals    []Approval    `json:"approvals"`
	Rejection    *Approval     `json:"rejection"`
	Status       string        `json:"status"`
	ResourceType string        `json:"resourceType"`
	ResourceID   *string       `json:"resourceId"`
	Before       sealward.JSON `json:"before,omitempty"`
	After        sealward.JSON `json:"after,omitempty"`
	SealValid    *bool         `json:"sealValid,omitempty"`
}

// ProposedChange is a change that the caller just proposed.
type ProposedChange struct {
	Change
	// Secret is that of a proposed API key, which the API shows once. It works after the change is applied.
	Secret *SecretText `json:"secret"`
}

// Proposer is who proposed a change.
type Proposer struct {
	Name     string  `json:"name"`
	Person   *string `json:"person"`
	APIKeyID *string `json:"apiKeyId"`
}

// Approval is a decision about a change.
type Approval struct {
	Person  string    `json:"person"`
	At      time.Time `json:"at"`
	Comment *string   `json:"comment"`
}

// ChangeFilter selects changes.
type ChangeFilter struct {
	Limit  int
	Status string
	Action string
}

func (f ChangeFilter) query() (q query) {
	q.addNumber("limit", f.Limit)
	q.add("status", f.Status)
	q.add("action", f.Action)
	return q
}
