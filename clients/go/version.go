package sealward

import (
	"runtime/debug"
	"strings"
)

const modulePath = "sealward.dev/go"

// Version is the version of this module as the program that uses it was built, for example 1.2.0, or "devel".
var Version = moduleVersion()

var (
	userAgent   = []string{"sealward-go/" + Version}
	jsonContent = []string{"application/json"}
)

func moduleVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			if dependency.Path == modulePath && dependency.Replace == nil {
				return strings.TrimPrefix(dependency.Version, "v")
			}
		}
	}
	return "devel"
}
