ephemeral "sealward_api_key" "till" {
  id = sealward_api_key.till.id
}

resource "terraform_data" "till" {
  triggers_replace = sealward_api_key.till.id

  provisioner "local-exec" {
    command     = "printf %s \"$SECRET\" >secret"
    environment = { SECRET = ephemeral.sealward_api_key.till.secret }
  }
}
