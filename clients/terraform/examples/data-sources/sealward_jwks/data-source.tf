data "sealward_jwks" "shop" {
  service_id = sealward_service.shop.id
}

output "jwks" {
  value = data.sealward_jwks.shop.json
}
