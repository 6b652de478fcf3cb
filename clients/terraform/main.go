// The provider of Sealward for OpenTofu and Terraform.
package main

import (
	"context"
	"flag"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"sealward.dev/terraform/internal/provider"
)

// address is the source of the provider in a configuration.
const address = "sealward.dev/sealward/sealward"

func main() {
	debug := flag.Bool("debug", false, "wait for a debugger, and print how OpenTofu can attach to this process")
	flag.Parse()
	if err := providerserver.Serve(context.Background(), provider.New, providerserver.ServeOpts{Address: address, Debug: *debug}); err != nil {
		log.Fatal(err)
	}
}
