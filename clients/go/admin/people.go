package admin

import (
	"context"
	"net/http"
	"time"
)

// People are the administrators.
type People struct{ caller caller }

// List returns a pager over the people that a filter selects.
func (p People) List(filter PersonFilter) *Pager[Person] {
	return &Pager[Person]{caller: p.caller, path: "/admin/people", query: filter.query()}
}

// Read returns a person.
func (p People) Read(ctx context.Context, id string) (*Person, error) {
	return read[Person](ctx, p.caller, segment("/admin/people", id))
}

// LockUnseen locks a person who has not signed in yet.
func (p People) LockUnseen(ctx context.Context, person NewPerson, options ...Option) (*Person, error) {
	return decide[Person](ctx, p.caller, "/admin/people", person, options)
}

// Lock ends the sessions and the admin keys of a person.
func (p People) Lock(ctx context.Context, id, reason string, options ...Option) (*Person, error) {
	return decide[Person](ctx, p.caller, segment("/admin/people", id, "lock"), PersonLock{reason}, options)
}

// Unlock lets a locked person sign in again.
func (p People) Unlock(ctx context.Context, id string, options ...Option) (Outcome[Person], error) {
	return change[Person](ctx, p.caller, http.MethodPost, segment("/admin/people", id, "unlock"), struct{}{}, options)
}

// Person is an administrator.
type Person struct {
	Revision
	ID         string     `json:"id"`
	Issuer     *string    `json:"issuer"`
	Subject    string     `json:"subject"`
	Name       string     `json:"name"`
	Status     string     `json:"status"`
	Roles      []string   `json:"roles"`
	LastSeenAt *time.Time `json:"lastSeenAt"`
	LockedAt   *time.Time `json:"lockedAt"`
	LockedBy   *string    `json:"lockedBy"`
	LockReason *string    `json:"lockReason"`
	APIKeyIDs  []string   `json:"apiKeyIds"`
	SealValid  *bool      `json:"sealValid,omitempty"`
	CreatedAt  time.Time  `json:"createdAt"`
	UpdatedAt  time.Time  `json:"updatedAt"`
}

// NewPerson names a person to lock.
type NewPerson struct {
	Subject string `json:"subject"`
	Reason  string `json:"reason"`
}

// PersonLock says why a person is locked.
type PersonLock struct {
	Reason string `json:"reason"`
}

// PersonFilter selects people.
type PersonFilter struct {
	Limit  int
	Status string
}

func (f PersonFilter) query() (q query) {
	q.addNumber("limit", f.Limit)
	q.add("status", f.Status)
	return q
}
