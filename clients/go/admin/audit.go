package admin

import (
	"context"
	"net/http"
	"strings"
	"time"

	"sealward.dev/go"
)

// Audit is the audit log of the runtime API.
type Audit struct{ caller caller }

// List returns a pager over records, the newest first.
func (a Audit) List(filter AuditFilter) *Pager[AuditRecord] {
	return &Pager[AuditRecord]{caller: a.caller, path: "/admin/audit", query: filter.query()}
}

// Export streams all records that a filter selects.
func (a Audit) Export(ctx context.Context, filter AuditFilter) (*Stream[AuditRecord], error) {
	return export[AuditRecord](ctx, a.caller, filter.query().of("/admin/audit"))
}

// Proof returns the proof that a record or an event is in its log.
func (a Audit) Proof(ctx context.Context, id string) (*AuditProof, error) {
	return read[AuditProof](ctx, a.caller, segment("/admin/audit", id, "proof"))
}

// Checkpoint returns the latest signed checkpoint of a log: operations or management.
func (a Audit) Checkpoint(ctx context.Context, log string) (string, error) {
	text, err := a.content(ctx, segment("/admin/audit/log", log, "checkpoint"))
	return string(text), err
}

// LogKey returns the public key that signs the checkpoints of a log.
func (a Audit) LogKey(ctx context.Context, log string) (string, error) {
	text, err := a.content(ctx, segment("/admin/audit/log", log, "key"))
	return string(text), err
}

// Tile returns a tile of a log, as C2SP tlog-tiles names it, for example 0/000 or entries/000.
func (a Audit) Tile(ctx context.Context, log, path string) ([]byte, error) {
	return a.content(ctx, segment("/admin/audit/log", append([]string{log, "tile"}, strings.Split(path, "/")...)...))
}

func (a Audit) content(ctx context.Context, path string) ([]byte, error) {
	response, err := a.caller.send(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// AuditRecord is the record of an operation.
type AuditRecord struct {
	ID               string    `json:"id"`
	RequestID        string    `json:"request_id"`
	Item             *int      `json:"item"`
	Timestamp        time.Time `json:"timestamp"`
	ApplicationID    *string   `json:"application_id"`
	OperationType    *string   `json:"operation_type"`
	Endpoint         *string   `json:"endpoint"`
	PayloadSizeBytes int64     `json:"payload_size_bytes"`
	ResponseStatus   int       `json:"response_status"`
	ResponseTimeMs   float64   `json:"response_time_ms"`
	Outcome          string    `json:"outcome"`
	ErrorCode        *string   `json:"error_code"`
	ErrorMessage     *string   `json:"error_message"`
	PolicyNumber     *string   `json:"policy_number"`
	KeyID            *string   `json:"key_id"`
	Ctx              *string   `json:"ctx"`
	APIKeyID         *string   `json:"api_key_id"`
	IdentityID       *string   `json:"identity_id"`
	TokenSubject     *string   `json:"token_subject"`
	ClientAddress    *string   `json:"client_address"`
	LogIndex         *int64    `json:"log_index"`
	// Changed says that the record is not the one that was sealed.
	Changed bool `json:"changed,omitempty"`
}

// AuditProof proves that a leaf is in a log.
type AuditProof struct {
	Log      string `json:"log"`
	LogIndex int64  `json:"logIndex"`
	Leaf     string `json:"leaf"`
	// Inclusion are the hashes of the path to the root.
	Inclusion  [][]byte `json:"inclusion"`
	Checkpoint string   `json:"checkpoint"`
}

// AuditFilter selects records.
type AuditFilter struct {
	Limit         int
	RequestID     string
	ApplicationID string
	OperationType string
	Status        int
	Outcome       string
	PolicyNumber  string
	KeyID         string
	IdentityID    string
	TokenSubject  string
	From, To      time.Time
	// Order is empty, or log_index: an export of the sealed records in the order of the log.
	Order string
}

func (f AuditFilter) query() (q query) {
	q.addNumber("limit", f.Limit)
	q.add("requestId", f.RequestID)
	q.add("applicationId", f.ApplicationID)
	q.add("operationType", f.OperationType)
	q.addNumber("status", f.Status)
	q.add("outcome", f.Outcome)
	q.add("policyNumber", f.PolicyNumber)
	q.add("keyId", f.KeyID)
	q.add("identityId", f.IdentityID)
	q.add("tokenSubject", f.TokenSubject)
	q.addTime("from", f.From)
	q.addTime("to", f.To)
	q.add("order", f.Order)
	return q
}

// Events are the audit log of the management API: changes, and events of security.
type Events struct{ caller caller }

// List returns a pager over events, the newest first.
func (e Events) List(filter EventFilter) *Pager[Event] {
	return &Pager[Event]{caller: e.caller, path: "/admin/audit/management", query: filter.query()}
}

// Export streams all events that a filter selects.
func (e Events) Export(ctx context.Context, filter EventFilter) (*Stream[Event], error) {
	return export[Event](ctx, e.caller, filter.query().of("/admin/audit/management"))
}

// Event is the record of a change, or an event of security.
type Event struct {
	ID            string        `json:"id"`
	RequestID     *string       `json:"request_id"`
	Timestamp     time.Time     `json:"timestamp"`
	Actor         string        `json:"actor"`
	Person        *EventPerson  `json:"person"`
	APIKeyID      *string       `json:"api_key_id"`
	ClientAddress *string       `json:"client_address"`
	Action        string        `json:"action"`
	ResourceType  string        `json:"resource_type"`
	ResourceID    *string       `json:"resource_id"`
	Before        sealward.JSON `json:"before"`
	After         sealward.JSON `json:"after"`
	ChangeID      *string       `json:"change_id"`
	ApprovedBy    []string      `json:"approved_by"`
	LogIndex      *int64        `json:"log_index"`
	// Changed says that the event is not the one that was sealed.
	Changed bool `json:"changed,omitempty"`
}

// EventPerson is a person at an OpenID Connect provider.
type EventPerson struct {
	Issuer  string `json:"iss"`
	Subject string `json:"sub"`
}

// EventFilter selects events.
type EventFilter struct {
	Limit        int
	RequestID    string
	APIKeyID     string
	Action       string
	ResourceType string
	ResourceID   string
	From, To     time.Time
	Order        string
}

func (f EventFilter) query() (q query) {
	q.addNumber("limit", f.Limit)
	q.add("requestId", f.RequestID)
	q.add("apiKeyId", f.APIKeyID)
	q.add("action", f.Action)
	q.add("resourceType", f.ResourceType)
	q.add("resourceId", f.ResourceID)
	q.addTime("from", f.From)
	q.addTime("to", f.To)
	q.add("order", f.Order)
	return q
}
