package admin

import "time"

// APIKeys are the API keys of services and administrators. Delete revokes.
type APIKeys struct {
	collection[APIKey, NewAPIKey, CreatedAPIKey, APIKeyChanges, APIKeyFilter]
}

// APIKey is an API key without its secret.
type APIKey struct {
	Revision
	ID                string     `json:"id"`
	Name              string     `json:"name"`
	Type              string     `json:"type"`
	ServiceID         *string    `json:"serviceId"`
	PolicyNumber      *string    `json:"policyNumber"`
	AllowedOperations []string   `json:"allowedOperations"`
	AllowedCIDRs      []string   `json:"allowedCidrs"`
	CertificateSHA256 *string    `json:"certificateSha256"`
	Roles             []string   `json:"roles"`
	Person            *string    `json:"person"`
	Hint              string     `json:"hint"`
	Status            string     `json:"status"`
	ExpiresAt         *time.Time `json:"expiresAt"`
	LastUsedAt        *time.Time `json:"lastUsedAt"`
	RevokedAt         *time.Time `json:"revokedAt"`
	SealValid         *bool      `json:"sealValid,omitempty"`
	CreatedAt         time.Time  `json:"createdAt"`
	UpdatedAt         time.Time  `json:"updatedAt"`
}

// CreatedAPIKey is a new API key with its secret, which the API shows once.
type CreatedAPIKey struct {
	APIKey
	// Secret is nil if the answer is that of a repeated request.
	Secret *SecretText `json:"secret"`
}

// NewAPIKey creates an API key. Members that restrict it are [Optional], so that an empty value is sent and refused:
// without restrictions, a key may do everything, and an admin key has the role owner.
type NewAPIKey struct {
	Name              string             `json:"name"`
	Type              string             `json:"type"`
	ServiceID         string             `json:"serviceId,omitempty"`
	PolicyNumber      string             `json:"policyNumber,omitempty"`
	AllowedOperations Optional[[]string] `json:"allowedOperations,omitempty"`
	AllowedCIDRs      Optional[[]string] `json:"allowedCidrs,omitempty"`
	CertificateSHA256 Optional[string]   `json:"certificateSha256,omitempty"`
	Roles             Optional[[]string] `json:"roles,omitempty"`
	Person            Optional[string]   `json:"person,omitempty"`
	ExpiresAt         *time.Time         `json:"expiresAt,omitempty"`
}

// APIKeyChanges changes an API key.
type APIKeyChanges struct {
	Name              Optional[string]    `json:"name,omitempty"`
	PolicyNumber      Optional[string]    `json:"policyNumber,omitempty"`
	AllowedOperations Optional[[]string]  `json:"allowedOperations,omitempty"`
	AllowedCIDRs      Optional[[]string]  `json:"allowedCidrs,omitempty"`
	CertificateSHA256 Optional[string]    `json:"certificateSha256,omitempty"`
	Roles             Optional[[]string]  `json:"roles,omitempty"`
	ExpiresAt         Optional[time.Time] `json:"expiresAt,omitempty"`
}

// APIKeyFilter selects API keys.
type APIKeyFilter struct {
	Limit        int
	Name         string
	NameContains string
	ServiceID    string
	Type         string
	Status       string
}

func (f APIKeyFilter) query() (q query) {
	q.addNumber("limit", f.Limit)
	q.add("name", f.Name)
	q.add("nameContains", f.NameContains)
	q.add("serviceId", f.ServiceID)
	q.add("type", f.Type)
	q.add("status", f.Status)
	return q
}

// Identities are the workloads that call with a JSON Web Token or a certificate.
type Identities struct {
	collection[Identity, NewIdentity, Identity, IdentityChanges, IdentityFilter]
}

// Identity is a workload identity.
type Identity struct {
	Revision
	ID                string        `json:"id"`
	Name              string        `json:"name"`
	ServiceID         string        `json:"serviceId"`
	PolicyNumber      *string       `json:"policyNumber"`
	AllowedOperations []string      `json:"allowedOperations"`
	Match             IdentityMatch `json:"match"`
	Status            string        `json:"status"`
	LastUsedAt        *time.Time    `json:"lastUsedAt"`
	SealValid         *bool         `json:"sealValid,omitempty"`
	CreatedAt         time.Time     `json:"createdAt"`
	UpdatedAt         time.Time     `json:"updatedAt"`
}

// IdentityMatch says which credentials are the identity: those of an issuer with a subject or claims, of a SPIFFE ID, or
// of a pinned certificate. Without a subject, those of every subject are.
type IdentityMatch struct {
	Issuer            Optional[string]         `json:"issuer,omitempty"`
	Subject           Optional[string]         `json:"subject,omitempty"`
	Claims            Optional[map[string]any] `json:"claims,omitempty"`
	SpiffeID          Optional[string]         `json:"spiffeId,omitempty"`
	CertificateSHA256 Optional[string]         `json:"certificateSha256,omitempty"`
}

// NewIdentity creates a workload identity.
type NewIdentity struct {
	Name              string             `json:"name"`
	ServiceID         string             `json:"serviceId"`
	PolicyNumber      string             `json:"policyNumber,omitempty"`
	AllowedOperations Optional[[]string] `json:"allowedOperations,omitempty"`
	Match             IdentityMatch      `json:"match"`
	Status            string             `json:"status,omitempty"`
}

// IdentityChanges changes a workload identity.
type IdentityChanges struct {
	Name              Optional[string]        `json:"name,omitempty"`
	PolicyNumber      Optional[string]        `json:"policyNumber,omitempty"`
	AllowedOperations Optional[[]string]      `json:"allowedOperations,omitempty"`
	Match             Optional[IdentityMatch] `json:"match,omitempty"`
	Status            Optional[string]        `json:"status,omitempty"`
}

// IdentityFilter selects workload identities.
type IdentityFilter struct {
	Limit        int
	Name         string
	NameContains string
	ServiceID    string
	Status       string
}

func (f IdentityFilter) query() (q query) {
	q.addNumber("limit", f.Limit)
	q.add("name", f.Name)
	q.add("nameContains", f.NameContains)
	q.add("serviceId", f.ServiceID)
	q.add("status", f.Status)
	return q
}
