terraform {
  required_providers {
    sealward = { source = "sealward.dev/sealward/sealward" }
  }
}
