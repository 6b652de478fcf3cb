module sealward.dev/go/tests

go 1.19

require sealward.dev/go v0.0.0

replace sealward.dev/go => ../
