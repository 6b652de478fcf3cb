package admin

import (
	"time"

	"sealward.dev/go"
)

// Services are the calling and destination services.
type Services struct {
	collection[Service, NewService, Service, ServiceChanges, ServiceFilter]
}

// Service is an application or a destination of envelopes.
type Service struct {
	Revision
	ID          string             `json:"id"`
	Name        string             `json:"name"`
	Description *string            `json:"description"`
	Status      string             `json:"status"`
	Tier        string             `json:"tier"`
	RateLimit   sealward.RateLimit `json:"rateLimit"`
	PublishKeys bool               `json:"publishKeys"`
	// SealValid is false if the row of the database was changed from outside.
	SealValid *bool     `json:"sealValid,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// NewService creates a service. Members that are empty have the default of the API.
type NewService struct {
	Name        string              `json:"name"`
	Description string              `json:"description,omitempty"`
	Status      string              `json:"status,omitempty"`
	Tier        string              `json:"tier,omitempty"`
	RateLimit   *sealward.RateLimit `json:"rateLimit,omitempty"`
	PublishKeys bool                `json:"publishKeys,omitempty"`
}

// ServiceChanges changes a service.
type ServiceChanges struct {
	Name        Optional[string]             `json:"name,omitempty"`
	Description Optional[string]             `json:"description,omitempty"`
	Status      Optional[string]             `json:"status,omitempty"`
	Tier        Optional[string]             `json:"tier,omitempty"`
	RateLimit   Optional[sealward.RateLimit] `json:"rateLimit,omitempty"`
	PublishKeys Optional[bool]               `json:"publishKeys,omitempty"`
}

// ServiceFilter selects services.
type ServiceFilter struct {
	Limit        int
	Name         string
	NameContains string
	Status       string
}

func (f ServiceFilter) query() (q query) {
	q.addNumber("limit", f.Limit)
	q.add("name", f.Name)
	q.add("nameContains", f.NameContains)
	q.add("status", f.Status)
	return q
}
