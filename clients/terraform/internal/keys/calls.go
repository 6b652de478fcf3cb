package keys

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sealward.dev/go"
	"sealward.dev/go/admin"
	"sealward.dev/terraform/internal/managed"
	"sealward.dev/terraform/internal/session"
	"sealward.dev/terraform/internal/value"
)

const disabled = "disabled"

func create(ctx context.Context, s *session.Session, plan resourceModel) (*lineage, error) {
	if isPrivate(plan.PublicKey.ValueString()) {
		return nil, errPrivate
	}
	wanted := admin.NewKey{
		ServiceID:    plan.ServiceID.ValueString(),
		Name:         plan.Name.ValueString(),
		Use:          plan.Use.ValueString(),
		Algorithm:    plan.Algorithm.ValueString(),
		ExpiresAt:    value.Moment(plan.ExpiresAt),
		PartnerKid:   plan.PartnerKid.ValueString(),
		RotationDays: int(plan.RotationDays.ValueInt64()),
		Generate:     plan.PublicKey.IsNull(),
		PublicKey:    material(plan.PublicKey.ValueString()),
	}
	status := plan.Status.ValueString()
	if status == "retired" || status == disabled {
		wanted.Activate = admin.Set(false)
	}
	if !plan.RotationDays.IsNull() {
		if err := onlyOneIsNamed(ctx, s, plan, ""); err != nil {
			return nil, err
		}
	}
	outcome, err := s.Admin.Keys.Create(ctx, wanted)
	made, err := session.AwaitResult(ctx, s, outcome, err, s.Admin.Keys.Read)
	if err != nil {
		return nil, err
	}
	if status == disabled {
		id := made.ID
		outcome, err = s.Admin.Keys.Update(ctx, id, admin.KeyChanges{Status: admin.Set(disabled)})
		if made, err = session.AwaitResult(ctx, s, outcome, err, s.Admin.Keys.Read); err != nil {
			return nil, session.NewIncomplete(id, err)
		}
	}
	return &lineage{first: made, current: made}, nil
}

// onlyOneIsNamed refuses a key that rotates if another key of its service has its name: the successors are found by it.
func onlyOneIsNamed(ctx context.Context, s *session.Session, plan resourceModel, id string) error {
	named, err := s.Admin.Keys.List(admin.KeyFilter{ServiceID: plan.ServiceID.ValueString(), Name: plan.Name.ValueString()}).All(ctx)
	for index := range named {
		if key := &named[index]; key.ID != id && isLiving(key) {
			return fmt.Errorf("the key %s has the name %q: a key that rotates needs a name of its own", key.ID, key.Name)
		}
	}
	return err
}

// material returns a public key as the API takes it: a JWK is an object, and PEM is a string.
func material(text string) any {
	switch {
	case text == "":
		return nil
	case isJWK(text):
		return sealward.JSON(text)
	default:
		return text
	}
}

func isJWK(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), "{") }

// update changes the current key. A name is that of all keys of the lineage.
func update(ctx context.Context, s *session.Session, state, plan resourceModel, unchanged admin.Option) (*lineage, error) {
	found, err := read(ctx, s, plan.Identifier())
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, errors.New("it was deleted since the plan")
	}
	changes := admin.KeyChanges{
		Name:         value.Text(plan.Name, state.Name),
		Status:       value.Text(plan.Status, state.Status),
		ExpiresAt:    value.Time(plan.ExpiresAt, state.ExpiresAt),
		RotationDays: value.Int(plan.RotationDays, state.RotationDays),
	}
	if value.IsEmpty(changes) {
		return found, nil
	}
	if plan.RotationDays.IsNull() && len(found.living) > 1 {
		return nil, errors.New("it was rotated, so it cannot lose rotation_days: import the key " + found.current.ID + " as a resource without it")
	}
	if state.RotationDays.IsNull() && !plan.RotationDays.IsNull() {
		if err := onlyOneIsNamed(ctx, s, plan, found.first.ID); err != nil {
			return nil, err
		}
	}
	if err := change(ctx, s, found.current.ID, changes, unchanged); err != nil {
		return nil, err
	}
	for _, member := range found.living {
		if member.ID != found.current.ID && changes.Name != nil {
			if err := change(ctx, s, member.ID, admin.KeyChanges{Name: changes.Name}); err != nil {
				return nil, err
			}
		}
	}
	return read(ctx, s, plan.Identifier())
}

func change(ctx context.Context, s *session.Session, id string, changes admin.KeyChanges, options ...admin.Option) error {
	outcome, err := s.Admin.Keys.Update(ctx, id, changes, options...)
	_, err = session.AwaitResult(ctx, s, outcome, err, s.Admin.Keys.Read)
	return err
}

// remove schedules the destruction of all keys of the lineage.
func remove(ctx context.Context, s *session.Session, state resourceModel, unchanged admin.Option) error {
	if err := managed.Unprotected(state.DeletionProtection); err != nil {
		return err
	}
	found, err := read(ctx, s, state.Identifier())
	if found == nil || err != nil {
		return err
	}
	for _, member := range found.living {
		var conditions []admin.Option
		if member.ID == found.current.ID {
			conditions = append(conditions, unchanged)
		}
		outcome, err := s.Admin.Keys.Delete(ctx, member.ID, conditions...)
		if err := session.AwaitDeletion(ctx, s, outcome, err); err != nil && !session.IsGone(err) {
			return fmt.Errorf("%s: %w", member.ID, err)
		}
	}
	return nil
}
