// Asks Go's text/template what each line of a file of templates gives, and writes the answers as golden data.
//
// usage: go run . cases.txt > ../../../golden/template/language.json
//
// A line is a template, or a JSON string when it begins with a quote; lines that begin with # and empty lines are
// passed over. All templates see the same data (data.json beside the file) and the same functions, which
// src/template/tests.rs repeats.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"text/template"
)

type answer struct {
	Template string `json:"template"`
	Output   string `json:"output"`
	Error    string `json:"error,omitempty"`
}

type golden struct {
	Program string   `json:"program"`
	Command string   `json:"command"`
	Data    any      `json:"data"`
	Answers []answer `json:"answers"`
}

type values map[string]any

func (v values) Keys() int                             { return len(v) }
func (v values) Joined(sep string, s ...string) string { return strings.Join(s, sep) }

type point struct {
	X    int
	Name string
	Any  any
}

type version struct{ Major, Minor int }

func (v *version) String() string { return fmt.Sprintf("v%d.%d", v.Major, v.Minor) }

func functions(set *template.Template) template.FuncMap {
	include := func(name string, data any) (string, error) {
		var out bytes.Buffer
		err := set.ExecuteTemplate(&out, name, data)
		return out.String(), err
	}
	return template.FuncMap{
		"include": include,
		"dict": func(pairs ...any) map[string]any {
			m := map[string]any{}
			for i := 0; i+1 < len(pairs); i += 2 {
				m[fmt.Sprint(pairs[i])] = pairs[i+1]
			}
			return m
		},
		"list":     func(v ...any) []any { return v },
		"set":      func(m map[string]any, k string, v any) map[string]any { m[k] = v; return m },
		"get":      func(m map[string]any, k string) any { return m[k] },
		"strs":     func(s ...string) []string { return s },
		"bytes":    func(s string) []byte { return []byte(s) },
		"ints":     func(v ...int) []int { return v },
		"i64":      func(i int64) int64 { return i },
		"u64":      func(u uint64) uint64 { return u },
		"values":   func(m map[string]any) values { return m },
		"takeInt":  func(i int) int { return i },
		"takeF":    func(f float64) float64 { return f },
		"takeB":    func(b bool) bool { return b },
		"takeS":    func(s string) string { return s },
		"takeM":    func(m map[string]any) int { return len(m) },
		"takeL":    func(l []any) int { return len(l) },
		"takeV":    func(a string, rest ...any) int { return len(rest) },
		"null":     func() any { return nil },
		"nilmap":   func() map[string]any { return nil },
		"nillist":  func() []any { return nil },
		"fail":     func(s string) (string, error) { return "", errors.New(s) },
		"struct":   func(x int, name string) point { return point{x, name, nil} },
		"pointer":  func(x int, name string) *point { return &point{x, name, "y"} },
		"version":  func(a, b int) *version { return &version{a, b} },
		"nilpoint": func() *point { return nil },
	}
}

func ask(text string, data any) answer {
	set := template.New("root").Option("missingkey=zero")
	set.Funcs(functions(set))
	if _, err := set.New("t").Parse(text); err != nil {
		return answer{Template: text, Error: err.Error()}
	}
	var out bytes.Buffer
	if err := set.ExecuteTemplate(&out, "t", data); err != nil {
		return answer{Template: text, Output: out.String(), Error: err.Error()}
	}
	return answer{Template: text, Output: out.String()}
}

func decode(bytes []byte) (v any) {
	if err := json.Unmarshal(bytes, &v); err != nil {
		log.Fatal(err)
	}
	return v
}

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(os.Args[1]), "data.json"))
	if err != nil {
		log.Fatal(err)
	}
	g := golden{Program: runtime.Version() + " text/template", Command: "scripts/oracle/template: go run . cases.txt", Data: decode(raw)}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] == '"' {
			line = decode([]byte(line)).(string)
		}
		g.Answers = append(g.Answers, ask(line, decode(raw)))
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	out.SetIndent("", " ")
	if err := out.Encode(g); err != nil {
		log.Fatal(err)
	}
}
