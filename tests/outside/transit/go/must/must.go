// Package must ends a program when something does not hold.
package must

import (
	"fmt"
	"os"
	"runtime"
)

// Do ends the program with the error, if there is one.
func Do(err error) {
	if err != nil {
		end(err.Error())
	}
}

// Hold ends the program with the message unless the condition holds.
func Hold(condition bool, message string) {
	if !condition {
		end(message)
	}
}

func end(message string) {
	_, file, line, _ := runtime.Caller(2)
	fmt.Fprintf(os.Stderr, "%s:%d: %s\n", file, line, message)
	os.Exit(1)
}
