data "sealward_api_key" "known" {
  name = "till"
}
