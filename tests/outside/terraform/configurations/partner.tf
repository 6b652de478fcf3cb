variable "public_key" {
  type = string
}

resource "sealward_service" "partner" {
  name = "partner"
}

resource "sealward_key" "partner" {
  service_id = sealward_service.partner.id
  name       = "partner"
  use        = "sig"
  public_key = var.public_key
}
