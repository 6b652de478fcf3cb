// Package admin is the client of the management API of Sealward.
//
//	management := admin.New(client)
//	outcome, err := management.Services.Create(ctx, admin.NewService{Name: "billing"})
//	if change, pending := outcome.Pending(); pending {
//		fmt.Println("waits for approval:", change.ID)
//	}
//
// Its calls fail and repeat as those of [sealward.Client]. Each POST has an idempotency key, so that a repeat has no
// second effect.
package admin

import "sealward.dev/go"

// Client calls the management API. It needs an admin key or an access token of an administrator.
type Client struct {
	Services   Services
	Policies   Policies
	Keys       Keys
	APIKeys    APIKeys
	Identities Identities
	People     People
	Changes    Changes
	Emergency  Emergencies
	Audit      Audit
	Events     Events
	Reports    Reports
}

// New returns a client of the management API with the address, credentials and limits of client.
func New(client *sealward.Client) *Client {
	caller := caller{client}
	return &Client{
		Services:   Services{collection[Service, NewService, Service, ServiceChanges, ServiceFilter]{caller, "/admin/services"}},
		Policies:   Policies{collection[Policy, NewPolicy, Policy, PolicyChanges, PolicyFilter]{caller, "/admin/policies"}},
		Keys:       Keys{collection[Key, NewKey, Key, KeyChanges, KeyFilter]{caller, "/admin/keys"}},
		APIKeys:    APIKeys{collection[APIKey, NewAPIKey, CreatedAPIKey, APIKeyChanges, APIKeyFilter]{caller, "/admin/api-keys"}},
		Identities: Identities{collection[Identity, NewIdentity, Identity, IdentityChanges, IdentityFilter]{caller, "/admin/identities"}},
		People:     People{caller},
		Changes:    Changes{caller},
		Emergency:  Emergencies{caller},
		Audit:      Audit{caller},
		Events:     Events{caller},
		Reports:    Reports{caller},
	}
}
