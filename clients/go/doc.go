// Package sealward is the client of Sealward, a service that encrypts, opens, signs and hashes data under policies.
//
//	client, err := sealward.NewFromEnvironment()
//	envelope, err := client.Protect(ctx, sealward.ProtectRequest{Payload: card})
//	payload, err := client.Unprotect(ctx, sealward.UnprotectRequest{Envelope: envelope})
//	err = payload.Decode(&card)
//
// A [Client] is safe for concurrent use. It repeats requests that the service refused for a moment, within one total
// deadline, and never writes a log. Its errors are of the type [Error], and their kinds are targets of [errors.Is].
//
// The package sealward.dev/go/admin is the client of the management API.
package sealward
