// Command vault-api checks the Go client of Vault with its helpers for AppRole and Kubernetes.
package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"

	"github.com/hashicorp/vault/api"
	"github.com/hashicorp/vault/api/auth/approle"
	"github.com/hashicorp/vault/api/auth/kubernetes"

	"sealward.dev/tests/outside/transit/must"
)

func main() {
	client := connect()
	roundTrip(client)
	refusals(client)
	renewal(client)
	for _, method := range methods() {
		client := connect()
		client.ClearToken()
		_, err := client.Auth().Login(context.Background(), method)
		must.Do(err)
		roundTrip(client)
		renewal(client)
	}
}

// connect reads VAULT_ADDR and VAULT_TOKEN.
func connect() *api.Client {
	client, err := api.NewClient(api.DefaultConfig())
	must.Do(err)
	return client
}

func methods() []api.AuthMethod {
	secret := &approle.SecretID{FromEnv: "VAULT_SECRET_ID"}
	role, err := approle.NewAppRoleAuth(os.Getenv("VAULT_ROLE_ID"), secret)
	must.Do(err)
	workload, err := kubernetes.NewKubernetesAuth("app", kubernetes.WithServiceAccountTokenEnv("VAULT_JWT"))
	must.Do(err)
	return []api.AuthMethod{role, workload}
}

func roundTrip(client *api.Client) {
	plaintext := base64.StdEncoding.EncodeToString([]byte("card"))
	sealed := write(client, "transit/encrypt/data", map[string]any{"plaintext": plaintext})
	opened := write(client, "transit/decrypt/data", map[string]any{"ciphertext": sealed["ciphertext"]})
	must.Hold(opened["plaintext"] == plaintext, "the plaintext is another")

	signed := write(client, "transit/sign/ec", map[string]any{"input": plaintext, "key_version": "0"})
	verified := write(client, "transit/verify/ec", map[string]any{"input": plaintext, "signature": signed["signature"]})
	must.Hold(verified["valid"] == true, "the signature is not valid")

	keys, err := client.Logical().List("transit/keys")
	must.Do(err)
	must.Hold(len(keys.Data["keys"].([]any)) >= 5, "the list lacks keys")
}

func refusals(client *api.Client) {
	missing, err := client.Logical().Read("transit/keys/missing")
	must.Hold(missing == nil && err == nil, "a missing key is not nil")
	_, err = client.Logical().Write("transit/encrypt/missing", map[string]any{"plaintext": ""})
	requireStatus(err, 400)
	client = connect()
	client.SetToken("wrong")
	_, err = client.Logical().Read("transit/keys/data")
	requireStatus(err, 403)
}

// renewal renews the token once with the watcher of the client.
func renewal(client *api.Client) {
	secret, err := client.Auth().Token().RenewSelf(0)
	must.Do(err)
	watcher, err := client.NewLifetimeWatcher(&api.LifetimeWatcherInput{Secret: secret})
	must.Do(err)
	go watcher.Start()
	defer watcher.Stop()
	select {
	case <-watcher.RenewCh():
	case err := <-watcher.DoneCh():
		must.Hold(false, fmt.Sprint("the watcher ended: ", err))
	}
	health, err := client.Sys().Health()
	must.Do(err)
	must.Hold(health.Initialized && !health.Sealed, "the server is not ready")
}

func write(client *api.Client, path string, data map[string]any) map[string]any {
	secret, err := client.Logical().Write(path, data)
	must.Do(err)
	return secret.Data
}

func requireStatus(err error, status int) {
	var response *api.ResponseError
	must.Hold(errors.As(err, &response) && response.StatusCode == status, "not the expected refusal")
}
