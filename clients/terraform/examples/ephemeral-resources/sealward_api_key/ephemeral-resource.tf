ephemeral "sealward_api_key" "till" {
  id = sealward_api_key.till.id
}

# The program reads the secret from its environment and stores it. The plan and the state do not contain it.
resource "terraform_data" "till" {
  triggers_replace = sealward_api_key.till.id

  provisioner "local-exec" {
    command     = "store-secret till"
    environment = { SECRET = ephemeral.sealward_api_key.till.secret }
  }
}
