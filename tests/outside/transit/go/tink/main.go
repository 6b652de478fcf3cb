// Command tink checks the AEAD of Tink's extension for Vault.
package main

import (
	"bytes"

	"github.com/hashicorp/vault/api"
	"github.com/tink-crypto/tink-go-hcvault/v2/integration/hcvault"

	"sealward.dev/tests/outside/transit/must"
)

const prefix = "hcvault://transit.example.com"

func main() {
	// It reads VAULT_ADDR and VAULT_TOKEN.
	server, err := api.NewClient(api.DefaultConfig())
	must.Do(err)
	client, err := hcvault.NewClientWithAEADOptions(prefix, server.Logical())
	must.Do(err)
	aead, err := client.GetAEAD(prefix + "/transit/keys/data")
	must.Do(err)
	for _, data := range [][]byte{[]byte("row 7"), nil} {
		sealed, err := aead.Encrypt([]byte("card"), data)
		must.Do(err)
		opened, err := aead.Decrypt(sealed, data)
		must.Do(err)
		must.Hold(bytes.Equal(opened, []byte("card")), "the plaintext is another")
		_, err = aead.Decrypt(sealed, []byte("another row"))
		must.Hold(err != nil, "other associated data opens it")
	}
}
