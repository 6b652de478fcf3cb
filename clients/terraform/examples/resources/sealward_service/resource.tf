resource "sealward_service" "shop" {
  name         = "shop"
  publish_keys = true
}
