// Package value converts between the values of a configuration and those of the API.
package value

import (
	"reflect"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"sealward.dev/go/admin"
)

// Text returns a member of a change: unset if the plan is the state.
func Text(plan, state types.String) admin.Optional[string] {
	return changed(plan, state, plan.ValueString)
}

// Bool returns a member of a change: unset if the plan is the state.
func Bool(plan, state types.Bool) admin.Optional[bool] { return changed(plan, state, plan.ValueBool) }

// Int returns a member of a change: unset if the plan is the state.
func Int(plan, state types.Int64) admin.Optional[int] {
	return changed(plan, state, func() int { return int(plan.ValueInt64()) })
}

// Texts returns a member of a change: unset if the plan is the state.
func Texts(plan, state types.Set) admin.Optional[[]string] {
	return changed(plan, state, func() []string { return Strings(plan) })
}

// Time returns a member of a change: unset if the plan is the state.
func Time(plan, state timetypes.RFC3339) admin.Optional[time.Time] {
	return changed(plan, state, func() time.Time { return *Moment(plan) })
}

func changed[T any](plan, state attr.Value, value func() T) admin.Optional[T] {
	switch {
	case plan.Equal(state) || plan.IsUnknown():
		return nil
	case plan.IsNull():
		return admin.Null[T]()
	default:
		return admin.Set(value())
	}
}

// IsEmpty reports whether a change has no member.
func IsEmpty(changes any) bool { return reflect.ValueOf(changes).IsZero() }

// Object returns a member of a change: unset if the plan is the state. Nil is null.
func Object[T any](plan, state *T) admin.Optional[T] {
	switch {
	case reflect.DeepEqual(plan, state):
		return nil
	case plan == nil:
		return admin.Null[T]()
	default:
		return admin.Set(*plan)
	}
}
