module sealward.dev/go/interop

go 1.19

require (
	github.com/go-jose/go-jose/v3 v3.0.4
	github.com/tink-crypto/tink-go/v2 v2.1.0
	sealward.dev/go v0.0.0
)

require (
	golang.org/x/crypto v0.19.0 // indirect
	golang.org/x/sys v0.17.0 // indirect
)

replace sealward.dev/go => ../
