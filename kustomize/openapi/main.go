// Writes the OpenAPI file that kustomize merges with, to standard output.
//
// A custom `openapi:` replaces the schema kustomize has built in, so the file holds what merging
// needs of that schema (names, merge strategies and merge keys, nothing else) beside our own kinds.
package main

import (
	"bytes"
	"encoding/json"
	"log"
	"maps"
	"os"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/openapi"
)

const (
	strategy = "x-kubernetes-patch-strategy"
	mergeKey = "x-kubernetes-patch-merge-key"
	listKeys = "x-kubernetes-list-map-keys"
	gvk      = "x-kubernetes-group-version-kind"
	refStart = "#/definitions/"
)

type schema = map[string]any

func main() {
	definitions := builtin()
	for name, definition := range ours {
		definitions[name] = definition
	}
	text, err := file(reachable(pruned(definitions)))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := os.Stdout.Write(text); err != nil {
		log.Fatal(err)
	}
}

// builtin is the schema kustomize merges with when a kustomization names no other.
func builtin() map[string]schema {
	definitions := map[string]schema{}
	for name, definition := range openapi.Schema().Definitions {
		// kustomize adds its own kinds to every custom schema by itself.
		if !strings.HasPrefix(name, "io.k8s.") || strings.HasSuffix(name, ".Kustomization") {
			continue
		}
		text, err := json.Marshal(definition)
		if err != nil {
			log.Fatal(err)
		}
		var value schema
		if err := json.Unmarshal(text, &value); err != nil {
			log.Fatal(err)
		}
		definitions[name] = value
	}
	return definitions
}

// pruned keeps, of every definition, what lies on a path to a list that merges.
func pruned(definitions map[string]schema) map[string]schema {
	useful := map[string]bool{}
	for grown := true; grown; {
		grown = false
		for name, definition := range definitions {
			if !useful[name] && merges(definition, useful) {
				useful[name], grown = true, true
			}
		}
	}
	kept := map[string]schema{}
	for name := range useful {
		kept[name] = prune(definitions[name], useful)
	}
	return kept
}

// merges tells whether a list at or below this schema merges.  kustomize replaces a list that does not
// as a whole, so nothing below such a list counts; and it knows no strategy of maps.
func merges(value schema, useful map[string]bool) bool {
	if value["items"] != nil {
		word, _ := value[strategy].(string)
		return slices.Contains(strings.Split(word, ","), "merge")
	}
	if ref, found := value["$ref"].(string); found {
		return useful[strings.TrimPrefix(ref, refStart)]
	}
	for _, property := range object(value["properties"]) {
		if merges(property.(schema), useful) {
			return true
		}
	}
	values := object(value["additionalProperties"])
	return values != nil && merges(values, useful)
}

func prune(value schema, useful map[string]bool) schema {
	kept := schema{}
	for _, word := range []string{strategy, mergeKey, listKeys, gvk, "$ref"} {
		if value[word] != nil {
			kept[word] = value[word]
		}
	}
	if items := object(value["items"]); items != nil {
		kept["type"] = "array" // kustomize looks at the elements only where the type says array.
		kept["items"] = schema{}
		if merges(items, useful) {
			kept["items"] = prune(items, useful)
		}
	}
	properties := schema{}
	for name, property := range object(value["properties"]) {
		if merges(property.(schema), useful) {
			properties[name] = prune(property.(schema), useful)
		}
	}
	if len(properties) > 0 {
		kept["properties"] = properties
	}
	if values := object(value["additionalProperties"]); values != nil && merges(values, useful) {
		kept["additionalProperties"] = prune(values, useful)
	}
	return kept
}

// reachable keeps the definitions a kind needs.
func reachable(definitions map[string]schema) map[string]schema {
	kept := map[string]schema{}
	var visit func(name string)
	visit = func(name string) {
		if kept[name] != nil {
			return
		}
		kept[name] = definitions[name]
		for _, next := range references(definitions[name]) {
			visit(next)
		}
	}
	for name, definition := range definitions {
		if definition[gvk] != nil {
			visit(name)
		}
	}
	return kept
}

func references(value schema) []string {
	var found []string
	for word, part := range value {
		if word == "$ref" {
			found = append(found, strings.TrimPrefix(part.(string), refStart))
		} else if inner := object(part); inner != nil {
			found = append(found, references(inner)...)
		}
	}
	return found
}

// file is the text, one definition a line so that a diff shows which kind changed.
func file(definitions map[string]schema) ([]byte, error) {
	var text bytes.Buffer
	text.WriteString("{\n  \"definitions\": {\n")
	if err := lines(&text, definitions); err != nil {
		return nil, err
	}
	text.WriteString("  },\n  \"info\": {\"title\": \"What kustomize merges by, for paddlegen\", \"version\": \"1\"},\n  \"paths\": {\n")
	if err := lines(&text, clusterScoped()); err != nil {
		return nil, err
	}
	text.WriteString("  },\n  \"swagger\": \"2.0\"\n}\n")
	return text.Bytes(), nil
}

func lines(text *bytes.Buffer, entries map[string]schema) error {
	names := slices.Sorted(maps.Keys(entries))
	for index, name := range names {
		line, err := json.Marshal(entries[name])
		if err != nil {
			return err
		}
		comma := ","
		if index == len(names)-1 {
			comma = ""
		}
		text.WriteString("    \"" + name + "\": " + string(line) + comma + "\n")
	}
	return nil
}

func object(value any) schema {
	found, _ := value.(schema)
	return found
}
