data "sealward_service" "known" {
  name = "shop"
}
