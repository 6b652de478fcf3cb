// Command go-kms-wrapping checks the library with which Vault unseals itself.
package main

import (
	"bytes"
	"context"
	"strings"

	"github.com/hashicorp/go-kms-wrapping/wrappers/transit/v2"

	"sealward.dev/tests/outside/transit/must"
)

func main() {
	ctx := context.Background()
	wrapper := transit.NewWrapper()
	// It reads VAULT_ADDR and VAULT_TOKEN, and renews the token.
	_, err := wrapper.SetConfig(ctx, transit.WithMountPath("transit/"), transit.WithKeyName("unseal"))
	must.Do(err)
	sealed, err := wrapper.Encrypt(ctx, []byte("root key"))
	must.Do(err)
	opened, err := wrapper.Decrypt(ctx, sealed)
	must.Do(err)
	must.Hold(bytes.Equal(opened, []byte("root key")), "the plaintext is another")
	// The version of the key is the library's key ID: a new version makes Vault encrypt again.
	id, err := wrapper.KeyId(ctx)
	must.Do(err)
	must.Hold(strings.HasPrefix(string(sealed.Ciphertext), "vault:"+id+":"), "the ciphertext is not of key "+id)
	must.Do(wrapper.Finalize(ctx))
}
