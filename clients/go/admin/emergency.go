package admin

import (
	"context"
	"net/http"
	"time"
)

// Emergencies is the switch that stops all runtime calls.
type Emergencies struct{ caller caller }

// Read returns the state of the switch.
func (e Emergencies) Read(ctx context.Context) (*Emergency, error) {
	return read[Emergency](ctx, e.caller, "/admin/emergency")
}

// Freeze stops all runtime calls but health and look-ups.
func (e Emergencies) Freeze(ctx context.Context, reason string, options ...Option) (*Emergency, error) {
	return decide[Emergency](ctx, e.caller, "/admin/emergency/freeze", Freeze{reason}, options)
}

// Unfreeze ends the stop.
func (e Emergencies) Unfreeze(ctx context.Context, reason string, options ...Option) (Outcome[Emergency], error) {
	return change[Emergency](ctx, e.caller, http.MethodPost, "/admin/emergency/unfreeze", Unfreeze{reason}, options)
}

// Emergency is the state of the switch: active or frozen.
type Emergency struct {
	Revision
	Status   string     `json:"status"`
	Reason   *string    `json:"reason"`
	FrozenAt *time.Time `json:"frozenAt"`
	FrozenBy *string    `json:"frozenBy"`
}

// Freeze says why all calls stop.
type Freeze struct {
	Reason string `json:"reason"`
}

// Unfreeze says why they go on.
type Unfreeze struct {
	Reason string `json:"reason,omitempty"`
}
