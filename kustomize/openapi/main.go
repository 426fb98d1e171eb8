package main

import _ "sigs.k8s.io/kustomize/kyaml/openapi"

func main() {}
