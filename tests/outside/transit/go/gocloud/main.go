// Command gocloud checks the secret keeper of the Go Cloud Development Kit, which Pulumi uses.
package main

import (
	"bytes"
	"context"
	"os"

	"gocloud.dev/secrets"
	_ "gocloud.dev/secrets/hashivault"

	"sealward.dev/tests/outside/transit/must"
)

func main() {
	os.Setenv("VAULT_SERVER_URL", os.Getenv("VAULT_ADDR"))
	os.Setenv("VAULT_SERVER_TOKEN", os.Getenv("VAULT_TOKEN"))
	ctx := context.Background()
	keeper, err := secrets.OpenKeeper(ctx, "hashivault://data?engine=transit")
	must.Do(err)
	defer keeper.Close()
	for _, plaintext := range []string{"a stack's secret", ""} {
		sealed, err := keeper.Encrypt(ctx, []byte(plaintext))
		must.Do(err)
		opened, err := keeper.Decrypt(ctx, sealed)
		must.Do(err)
		must.Hold(bytes.Equal(opened, []byte(plaintext)), "the plaintext is another")
	}
	_, err = keeper.Decrypt(ctx, []byte("vault:v1:AAAA"))
	must.Hold(err != nil, "an invalid ciphertext opens")
}
