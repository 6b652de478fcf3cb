resource "sealward_api_key" "till" {
  name               = "till"
  type               = "live"
  service_id         = sealward_service.shop.id
  policy_number      = sealward_policy.payments.policy_number
  allowed_operations = ["protect"]
}
