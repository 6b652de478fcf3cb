package sealward

// Version is the version of this module. The script package writes it from Cargo.toml.
const Version = "0.1.0"

var (
	userAgent   = []string{"sealward-go/" + Version}
	jsonContent = []string{"application/json"}
)
