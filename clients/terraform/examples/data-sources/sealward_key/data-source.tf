data "sealward_key" "known" {
  name = "envelopes"
}
