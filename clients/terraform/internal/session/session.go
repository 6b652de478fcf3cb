// Package session is what all resources of a provider share: the clients, the wait for approvals, and new secrets.
package session

import (
	"sync"
	"time"

	"sealward.dev/go"
	"sealward.dev/go/admin"
)

// Session belongs to one configured provider.
type Session struct {
	// Runtime reads what needs no credential.
	Runtime *sealward.Client
	Admin   *admin.Client

	wait time.Duration
	// secrets are those of the API keys that this process created, by the IDs of the keys. They are nowhere else.
	secrets sync.Map
}

// New returns a session that waits for the approval of a change. Without a wait, a change that needs approval is an error.
func New(client *sealward.Client, wait time.Duration) *Session {
	return &Session{Runtime: client, Admin: admin.New(client), wait: wait}
}

// KeepSecret makes the secret of a new API key available in this process.
func (s *Session) KeepSecret(id string, secret *admin.SecretText) {
	if secret != nil {
		s.secrets.Store(id, secret)
	}
}

// Secret returns the secret of an API key that this process created.
func (s *Session) Secret(id string) (*admin.SecretText, bool) {
	found, known := s.secrets.Load(id)
	if !known {
		return nil, false
	}
	secret, isSecret := found.(*admin.SecretText)
	return secret, isSecret
}
