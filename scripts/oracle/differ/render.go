package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// request is `helm template` with its flags; the chart's files are written below "chart", the values files beside it.
type request struct {
	Helm        string
	Files       map[string][]byte
	Values      [][]byte
	JSON        []string `json:"set_json"`
	Set         []string
	String      []string `json:"set_string"`
	Literal     []string `json:"set_literal"`
	Release     string
	Namespace   string
	KubeVersion string   `json:"kube_version"`
	APIVersions []string `json:"api_versions"`
	IncludeCRDs bool     `json:"include_crds"`
	NoHooks     bool     `json:"no_hooks"`
	SkipTests   bool     `json:"skip_tests"`
	IsUpgrade   bool     `json:"is_upgrade"`
}

// rendered is what of a release is printed.
type rendered struct {
	manifest string
	hooks    []hook
}

type hook struct {
	path, manifest string
	test           bool
}

// stderr stands in for standard error, which both Helms and Go's loggers write to.
var stderr = newStderr()

func newStderr() *os.File {
	file, err := os.CreateTemp("", "differ-stderr")
	if err != nil {
		panic(err)
	}
	os.Remove(file.Name())
	os.Stderr = file
	return file
}

func render(line []byte) answer {
	var asked request
	if err := json.Unmarshal(line, &asked); err != nil {
		panic(err)
	}
	folder := write(asked)
	defer os.RemoveAll(folder)
	if err := os.Chdir(folder); err != nil {
		panic(err)
	}
	run := template4
	if asked.Helm == "3" {
		run = template3
	}
	rewind()
	out, err := run(asked)
	if err != nil {
		fmt.Fprintln(stderr, "Error:", err.Error())
		return answer{Err: written(), Exit: 1}
	}
	return answer{Out: out, Err: written()}
}

func rewind() {
	if err := stderr.Truncate(0); err != nil {
		panic(err)
	}
	if _, err := stderr.Seek(0, io.SeekStart); err != nil {
		panic(err)
	}
}

func written() []byte {
	if _, err := stderr.Seek(0, io.SeekStart); err != nil {
		panic(err)
	}
	text, err := io.ReadAll(stderr)
	if err != nil {
		panic(err)
	}
	return text
}

func write(asked request) string {
	folder, err := os.MkdirTemp("", "differ")
	if err != nil {
		panic(err)
	}
	put := func(name string, data []byte) {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			panic(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			panic(err)
		}
	}
	for name, data := range asked.Files {
		put("chart/"+name, data)
	}
	for at, data := range asked.Values {
		put(valuesName(at), data)
	}
	return folder
}

func valuesName(at int) string {
	return fmt.Sprintf("values%d.yaml", at)
}

func valuesNames(asked request) (names []string) {
	for at := range asked.Values {
		names = append(names, valuesName(at))
	}
	return names
}

// show prints a release as `helm template` does without --show-only and --output-dir.
func show(release rendered, asked request) []byte {
	var out bytes.Buffer
	fmt.Fprintln(&out, strings.TrimSpace(release.manifest))
	for _, hook := range release.hooks {
		if !asked.NoHooks && !(asked.SkipTests && hook.test) {
			fmt.Fprintf(&out, "---\n# Source: %s\n%s\n", hook.path, hook.manifest)
		}
	}
	return out.Bytes()
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
