package admin

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"sealward.dev/go"
)

// Reports are signed reports for auditors.
type Reports struct{ caller caller }

// Keys returns the register of keys in JSON, which [SignedReport.Register] reads.
func (r Reports) Keys(ctx context.Context, filter ReportFilter) (*SignedReport, error) {
	return r.signed(ctx, "/admin/reports/keys", filter, "application/json")
}

// KeysCSV returns the register of keys in CSV.
func (r Reports) KeysCSV(ctx context.Context, filter ReportFilter) (*SignedReport, error) {
	return r.signed(ctx, "/admin/reports/keys", filter, "text/csv")
}

// CBOM returns the cryptographic bill of materials (CycloneDX 1.6).
func (r Reports) CBOM(ctx context.Context, filter ReportFilter) (*SignedReport, error) {
	return r.signed(ctx, "/admin/reports/cbom", filter, "application/vnd.cyclonedx+json")
}

// PublicKeys returns the public keys that have signed reports.
func (r Reports) PublicKeys(ctx context.Context) (*sealward.JWKSet, error) {
	return read[sealward.JWKSet](ctx, r.caller, "/admin/reports/jwks")
}

func (r Reports) signed(ctx context.Context, path string, filter ReportFilter, media string) (*SignedReport, error) {
	accept := func(header http.Header) { header.Set("Accept", media) }
	response, err := r.caller.send(ctx, http.MethodGet, filter.query().of(path), nil, []Option{accept})
	if err != nil {
		return nil, err
	}
	signature := response.Header.Get("X-Report-Signature")
	if signature == "" {
		return nil, errors.New("sealward: the report has no signature")
	}
	return &SignedReport{Body: response.Body, Signature: signature}, nil
}

// SignedReport is a report as the service signed it. Keep the body and the signature together.
type SignedReport struct {
	// Body is what is signed.
	Body []byte
	// Signature is a detached JWS of the body.
	Signature string
}

// Register returns the register in the body. It does not verify the signature.
func (r *SignedReport) Register() (*KeyRegister, error) {
	register := new(KeyRegister)
	if err := json.Unmarshal(r.Body, register); err != nil {
		return nil, err
	}
	return register, nil
}

// KeyRegister is the keys of an installation at a checkpoint of its audit logs.
type KeyRegister struct {
	// At is the last day whose uses count.
	At          string             `json:"at"`
	Checkpoints ReportCheckpoints  `json:"checkpoints"`
	Filter      KeyRegisterFilter  `json:"filter"`
	Keys        []KeyRegisterEntry `json:"keys"`
}

// ReportCheckpoints are the checkpoints at which a report was made.
type ReportCheckpoints struct {
	Operations ReportCheckpoint `json:"operations"`
	Management ReportCheckpoint `json:"management"`
}

// ReportCheckpoint is a checkpoint without its signatures.
type ReportCheckpoint struct {
	Origin string `json:"origin"`
	Size   int64  `json:"size"`
	// Root is base64.
	Root string `json:"root"`
}

// KeyRegisterFilter is the filter of a register.
type KeyRegisterFilter struct {
	Algorithm     *string `json:"algorithm"`
	StrengthBelow *int    `json:"strengthBelow"`
	PolicyNumber  *string `json:"policyNumber"`
}

// KeyRegisterEntry is a key in the register.
type KeyRegisterEntry struct {
	KeyID string `json:"keyId"`
	// ServiceID is nil for keys of Sealward's own.
	ServiceID   *string `json:"serviceId"`
	ServiceName *string `json:"serviceName"`
	Name        string  `json:"name"`
	Version     *int    `json:"version"`
	Use         string  `json:"use"`
	Algorithm   string  `json:"algorithm"`
	// Strength is in bits.
	Strength int `json:"strength"`
	// QuantumStatus is vulnerable or resistant.
	QuantumStatus string `json:"quantumStatus"`
	Origin        string `json:"origin"`
	Status        string `json:"status"`
	HasPrivate    bool   `json:"hasPrivate"`
	// Tokens are those that held the key, or nil for keys of Sealward's own.
	Tokens      []string   `json:"tokens"`
	Extractable *bool      `json:"extractable"`
	Thumbprint  *string    `json:"thumbprint"`
	CreatedAt   time.Time  `json:"createdAt"`
	ActivatedAt *time.Time `json:"activatedAt"`
	// LastProtectedAt is the last use that protected, encrypted or signed.
	LastProtectedAt *time.Time `json:"lastProtectedAt"`
	// LastOpenedAt is the last use that opened, decrypted or verified.
	LastOpenedAt *time.Time `json:"lastOpenedAt"`
	// UsesIn30Days counts the 30 days that end with the day of the report.
	UsesIn30Days int64      `json:"usesIn30Days"`
	ExpiresAt    *time.Time `json:"expiresAt"`
	RotationDays *int       `json:"rotationDays"`
	RotatesAt    *time.Time `json:"rotatesAt"`
	// Successor is the key that replaces or replaced this one.
	Successor  *string             `json:"successor"`
	DestroyAt  *time.Time          `json:"destroyAt"`
	Policies   []KeyRegisterPolicy `json:"policies"`
	CreatedBy  *KeyMaker           `json:"createdBy"`
	ApprovedBy []string            `json:"approvedBy"`
	SealValid  *bool               `json:"sealValid,omitempty"`
}

// KeyRegisterPolicy is a policy that uses a key.
type KeyRegisterPolicy struct {
	PolicyNumber         string   `json:"policyNumber"`
	Status               string   `json:"status"`
	Deleted              bool     `json:"deleted"`
	Alg                  string   `json:"alg"`
	Enc                  string   `json:"enc"`
	DestinationServiceID string   `json:"destinationServiceId"`
	AllowedServiceIDs    []string `json:"allowedServiceIds"`
}

// KeyMaker is who created a key.
type KeyMaker struct {
	// Actor is the name of the admin key, the person, the command or the job.
	Actor  string  `json:"actor"`
	Person *string `json:"person"`
}

// ReportFilter selects the keys of a report.
type ReportFilter struct {
	// At is the last day whose uses count, such as 2026-11-26.
	At            string
	Algorithm     string
	StrengthBelow int
	PolicyNumber  string
}

func (f ReportFilter) query() (q query) {
	q.add("at", f.At)
	q.add("algorithm", f.Algorithm)
	q.addNumber("strengthBelow", f.StrengthBelow)
	q.add("policyNumber", f.PolicyNumber)
	return q
}
