data "sealward_identity" "known" {
  name = "cart"
}
