data "sealward_policy" "known" {
  policy_number = "PAYMENTS"
}
