// Asks Go's text/template with Sprig's functions what templates print; writes golden/template/sprig.
//
// Usage: TZ=UTC go run . ../../../golden/template/sprig
//
// Each line of cases/*.txt is a template, with \n for a line break and \\ for a backslash.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

var (
	unescape = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r")
	escape   = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\t", `\t`, "\r", `\r`, "\x00", `\0`)
)

func render(text string, data any) (out string) {
	defer func() {
		if r := recover(); r != nil {
			out = fmt.Sprintf("panic: %v", r)
		}
	}()
	functions := sprig.TxtFuncMap()
	delete(functions, "env")
	delete(functions, "expandenv")
	t, err := template.New("t").Funcs(functions).Parse(text)
	if err != nil {
		return "error: " + err.Error()
	}
	var b strings.Builder
	if err := t.Execute(&b, data); err != nil {
		return "error: " + err.Error()
	}
	return b.String()
}

func main() {
	raw, err := os.ReadFile("data.json")
	if err != nil {
		panic(err)
	}
	files, _ := filepath.Glob("cases/*.txt")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			panic(err)
		}
		rows := "# template, what it prints\n"
		for _, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
			var data any
			if err := json.Unmarshal(raw, &data); err != nil {
				panic(err)
			}
			rows += line + "\t" + escape.Replace(render(unescape.Replace(line), data)) + "\n"
		}
		name := strings.TrimSuffix(filepath.Base(file), ".txt") + ".tsv"
		if err := os.WriteFile(filepath.Join(os.Args[1], name), []byte(rows), 0o644); err != nil {
			panic(err)
		}
	}
}
