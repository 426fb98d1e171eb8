// The kustomize command line as its authors release it, at the version go.mod pins.
//
// Paddlegen ships this binary so that every machine and Argo CD build the same bytes.
package main

import (
	"os"

	"sigs.k8s.io/kustomize/kustomize/v5/commands"
)

func main() {
	if commands.NewDefaultCommand().Execute() != nil {
		os.Exit(1)
	}
}
