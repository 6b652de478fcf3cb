package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sealward.dev/go"
	"sealward.dev/go/admin"
)

// pause is the time between two looks at a change that waits for approval.
const pause = 2 * time.Second

// Pending says that a change waits for approval. Nothing was changed.
type Pending struct {
	Change admin.Change
	waited time.Duration
}

func (p *Pending) Error() string {
	text := fmt.Sprintf("change %s waits for approval until %s, and nothing was changed", p.Change.ID, p.Change.ExpiresAt.Format(time.RFC3339))
	if p.waited > 0 {
		return text + fmt.Sprintf("; wait_for_approval ended after %s", p.waited)
	}
	return text + "; set wait_for_approval in the provider to wait for it"
}

// NotApplied says that a change was decided against.
type NotApplied struct{ change admin.Change }

func (n *NotApplied) Error() string {
	text := fmt.Sprintf("change %s was not applied: it is %s", n.change.ID, n.change.Status)
	if n.change.Rejection != nil {
		text += " by " + n.change.Rejection.Person
		if comment := n.change.Rejection.Comment; comment != nil {
			text += fmt.Sprintf(" (%q)", *comment)
		}
	}
	return text
}

// Incomplete is an error after a change was applied: the resource exists, and is not as planned or not known.
type Incomplete struct {
	ID    string
	cause error
}

// NewIncomplete returns the error of a step after the change of a resource.
func NewIncomplete(id string, cause error) *Incomplete { return &Incomplete{id, cause} }

func (i *Incomplete) Error() string {
	return fmt.Sprintf("%s exists, but a later step failed: %v", i.ID, i.cause)
}

// Unwrap returns what failed.
func (i *Incomplete) Unwrap() error { return i.cause }

// AwaitResult returns the resource after a change. It waits for the approval of the change if it needs one.
func AwaitResult[R any](ctx context.Context, s *Session, outcome admin.Outcome[R], err error, read func(context.Context, string) (*R, error)) (*R, error) {
	if err != nil {
		return nil, err
	}
	change, isPending := outcome.Pending()
	if !isPending {
		done, _ := outcome.Done()
		return done, nil
	}
	id, err := s.AwaitApproval(ctx, change)
	if err != nil {
		return nil, err
	}
	return ReadApplied(ctx, id, read)
}

// ReadApplied returns a resource whose change was applied.
func ReadApplied[R any](ctx context.Context, id string, read func(context.Context, string) (*R, error)) (*R, error) {
	found, err := read(ctx, id)
	if err != nil {
		return nil, NewIncomplete(id, err)
	}
	return found, nil
}

// AwaitApproval waits until a change is applied, and returns the ID of its resource.
func (s *Session) AwaitApproval(ctx context.Context, proposed *admin.ProposedChange) (string, error) {
	change := proposed.Change
	end := time.Now().Add(s.wait)
	for {
		switch {
		case change.Status == "applied" && change.ResourceID != nil:
			return *change.ResourceID, nil
		case change.Status != "pending":
			return "", &NotApplied{change}
		case time.Now().Add(pause).After(end):
			return "", &Pending{change, s.wait}
		}
		select {
		case <-ctx.Done():
			return "", &Pending{change, s.wait}
		case <-time.After(pause):
		}
		latest, err := s.Admin.Changes.Read(ctx, change.ID)
		if err == nil {
			change = *latest
		} else if failed := (*sealward.Error)(nil); !errors.As(err, &failed) || !failed.Retryable() {
			return "", fmt.Errorf("cannot read change %s, which waits for approval: %w", change.ID, err)
		}
	}
}

// AwaitDeletion ends a deletion. It waits for its approval if it needs one.
func AwaitDeletion(ctx context.Context, s *Session, outcome admin.Outcome[admin.Nothing], err error) error {
	_, err = AwaitResult(ctx, s, outcome, err, func(context.Context, string) (*admin.Nothing, error) { return nil, nil })
	return err
}
