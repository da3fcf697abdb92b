// Says what sigs.k8s.io/yaml and go.yaml.in/yaml/v3 make of YAML texts.
//
// Usage: go run . CASES EXPECTED
//
// CASES holds *.yaml files of cases divided by lines "=== name"; for each a file of the same name with
// the extension .json is written to EXPECTED: an object by case name.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

type answer struct {
	JSON   string `json:"json,omitempty"`
	Error  string `json:"error,omitempty"`
	Strict string `json:"strict,omitempty"`
	YAML   string `json:"yaml,omitempty"`
	YAML3  string `json:"yaml3,omitempty"`
}

func ask(text []byte) (a answer) {
	encoded, err := yaml.YAMLToJSON(text)
	if err != nil {
		a.Error = err.Error()
		return a
	}
	a.JSON = string(encoded)
	if _, err := yaml.YAMLToJSONStrict(text); err != nil {
		a.Strict = err.Error()
	}
	if back, err := yaml.JSONToYAML(encoded); err != nil {
		a.YAML = "error: " + err.Error()
	} else {
		a.YAML = string(back)
	}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	var value any
	if err := decoder.Decode(&value); err != nil {
		panic(err)
	}
	var out bytes.Buffer
	encoder := yaml3.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(value); err != nil {
		a.YAML3 = "error: " + err.Error()
	} else {
		a.YAML3 = out.String()
	}
	return a
}

// cases splits a file at its "=== name" lines. A text has no final line break unless an empty line ends the case; in a
// case whose name ends in "!bytes", \xNN stands for that byte.
func cases(data []byte) (names []string, texts [][]byte) {
	for _, part := range strings.Split("\n"+string(data), "\n=== ")[1:] {
		name, text, _ := strings.Cut(part, "\n")
		if plain, ok := strings.CutSuffix(name, " !bytes"); ok {
			name = plain
			text = unescape(text)
		}
		names = append(names, name)
		texts = append(texts, []byte(text))
	}
	return names, texts
}

// unescape replaces \xNN by that byte.
func unescape(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		var b byte
		if i+4 <= len(text) && text[i:i+2] == `\x` {
			if _, err := fmt.Sscanf(text[i+2:i+4], "%02x", &b); err == nil {
				out.WriteByte(b)
				i += 3
				continue
			}
		}
		out.WriteByte(text[i])
	}
	return out.String()
}

func main() {
	files, err := filepath.Glob(filepath.Join(os.Args[1], "*.yaml"))
	if err != nil || len(files) == 0 {
		fmt.Fprintln(os.Stderr, "no cases", err)
		os.Exit(1)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			panic(err)
		}
		answers := map[string]answer{}
		names, texts := cases(data)
		for i, name := range names {
			if _, twice := answers[name]; twice {
				panic("two cases " + name + " in " + file)
			}
			answers[name] = ask(texts[i])
		}
		encoded, err := json.MarshalIndent(answers, "", " ")
		if err != nil {
			panic(err)
		}
		base := strings.TrimSuffix(filepath.Base(file), ".yaml") + ".json"
		if err := os.WriteFile(filepath.Join(os.Args[2], base), append(encoded, '\n'), 0o644); err != nil {
			panic(err)
		}
	}
}
