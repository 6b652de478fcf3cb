module sealward.dev/go

go 1.19
