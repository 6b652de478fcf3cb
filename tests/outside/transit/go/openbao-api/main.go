// Command openbao-api checks the Go client of OpenBao.
package main

import (
	"encoding/base64"

	"github.com/openbao/openbao/api/v2"

	"sealward.dev/tests/outside/transit/must"
)

func main() {
	// It reads BAO_ADDR and BAO_TOKEN.
	client, err := api.NewClient(api.DefaultConfig())
	must.Do(err)
	input := base64.StdEncoding.EncodeToString([]byte("card"))

	sealed := write(client, "transit/encrypt/data", map[string]any{"plaintext": input})
	again := write(client, "transit/rewrap/data", map[string]any{"ciphertext": sealed["ciphertext"]})
	opened := write(client, "transit/decrypt/data", map[string]any{"ciphertext": again["ciphertext"]})
	must.Hold(opened["plaintext"] == input, "the plaintext is another")

	key := write(client, "transit/datakey/plaintext/data", map[string]any{"bits": "512"})
	opened = write(client, "transit/decrypt/data", map[string]any{"ciphertext": key["ciphertext"]})
	must.Hold(opened["plaintext"] == key["plaintext"], "the data key is another")

	signed := write(client, "transit/sign/ed", map[string]any{"input": input})
	verified := write(client, "transit/verify/ed", map[string]any{"input": input, "signature": signed["signature"]})
	must.Hold(verified["valid"] == true, "the signature is not valid")

	read, err := client.Logical().Read("transit/keys/ed")
	must.Do(err)
	must.Hold(read.Data["type"] == "ed25519", "the key is of another type")
	self, err := client.Auth().Token().LookupSelf()
	must.Do(err)
	ttl, err := self.TokenTTL()
	must.Do(err)
	must.Hold(ttl > 0, "the token has no time to live")
}

func write(client *api.Client, path string, data map[string]any) map[string]any {
	secret, err := client.Logical().Write(path, data)
	must.Do(err)
	return secret.Data
}
