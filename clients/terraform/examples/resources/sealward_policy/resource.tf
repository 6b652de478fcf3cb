resource "sealward_policy" "payments" {
  policy_number          = "PAYMENTS"
  name                   = "Payments of the shop"
  destination_service_id = sealward_service.shop.id
  allowed_service_ids    = [sealward_service.shop.id]
}
