# The token generates the key. Each 90 days, a successor replaces it.
resource "sealward_key" "envelopes" {
  service_id    = sealward_service.shop.id
  name          = "envelopes"
  rotation_days = 90
}

# The public key of a partner.
resource "sealward_key" "partner" {
  service_id = sealward_service.shop.id
  name       = "partner"
  use        = "sig"
  public_key = file("partner.pem")
}
