package main

import (
	"bytes"
	"encoding/json"

	yaml3 "go.yaml.in/yaml/v3"
	strvals3 "helm.sh/helm/v3/pkg/strvals"
	strvals4 "helm.sh/helm/v4/pkg/strvals"
	"sigs.k8s.io/yaml"
)

// readYAML reads a text as Helm does and writes what it read with both of Helm's writers.
func readYAML(line []byte) (a answer) {
	var asked struct{ Text []byte }
	if err := json.Unmarshal(line, &asked); err != nil {
		panic(err)
	}
	encoded, err := yaml.YAMLToJSON(asked.Text)
	if err != nil {
		a.Error = err.Error()
		return a
	}
	a.JSON = string(encoded)
	if _, err := yaml.YAMLToJSONStrict(asked.Text); err != nil {
		a.Strict = err.Error()
	}
	a.YAML, a.YAML3 = writeYAML(encoded)
	return a
}

func writeYAML(encoded []byte) (string, string) {
	back, err := yaml.JSONToYAML(encoded)
	if err != nil {
		back = []byte("error: " + err.Error())
	}
	var value any
	if err := json.Unmarshal(encoded, &value); err != nil {
		panic(err)
	}
	var out bytes.Buffer
	encoder := yaml3.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(value); err != nil {
		return string(back), "error: " + err.Error()
	}
	return string(back), out.String()
}

type setters struct {
	set, text, json, literal func(string, map[string]any) error
}

var grammars = map[string]setters{
	"3": {strvals3.ParseInto, strvals3.ParseIntoString, strvals3.ParseJSON, strvals3.ParseLiteralInto},
	"4": {strvals4.ParseInto, strvals4.ParseIntoString, strvals4.ParseJSON, strvals4.ParseLiteralInto},
}

// parseSet reads expressions of one flag into a map, which is answered as JSON.
func parseSet(line []byte) (a answer) {
	var asked struct {
		Helm, Flag string
		Texts      []string
	}
	if err := json.Unmarshal(line, &asked); err != nil {
		panic(err)
	}
	grammar := grammars[asked.Helm]
	parse := map[string]func(string, map[string]any) error{
		"set": grammar.set, "set-string": grammar.text, "set-json": grammar.json, "set-literal": grammar.literal,
	}[asked.Flag]
	into := map[string]any{}
	for _, text := range asked.Texts {
		if err := parse(text, into); err != nil {
			a.Error = err.Error()
			return a
		}
	}
	encoded, err := json.Marshal(into)
	if err != nil {
		a.Error = "marshal: " + err.Error()
	}
	a.JSON = string(encoded)
	return a
}
