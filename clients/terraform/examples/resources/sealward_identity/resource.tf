resource "sealward_identity" "cart" {
  name       = "cart"
  service_id = sealward_service.shop.id
  match = {
    issuer = "https://kubernetes.example.com"
    claims = jsonencode({ "/kubernetes.io/namespace" = "shop" })
  }
}
