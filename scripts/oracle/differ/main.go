// Answers what the real Helms and go-yaml make of inputs, for tests that compare seatrial with them on inputs of their own.
//
// One request a line on standard input, one answer a line on standard output, both JSON. Kinds of requests:
//
//	render    what `helm template` prints for a chart: request in render.go
//	yaml      what sigs.k8s.io/yaml and yaml.v3 read and write: texts.go
//	set       what --set and its like make of an expression: texts.go
//
// Usage: differ; `scripts/oracle/differ/build` builds it.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v4/pkg/chart/common"
)

// answer is what any request gets; texts are base64, as they may be no UTF-8.
type answer struct {
	Out   []byte `json:"out"`
	Err   []byte `json:"err"`
	Exit  int    `json:"exit"`
	Panic string `json:"panic,omitempty"`
	JSON  string `json:"json,omitempty"`
	Error string `json:"error,omitempty"`
	// Strict is the error of the strict reader, YAML and YAML3 are what was read, written again.
	Strict string `json:"strict,omitempty"`
	YAML   string `json:"yaml,omitempty"`
	YAML3  string `json:"yaml3,omitempty"`
}

func respond(line []byte) (given answer) {
	defer func() {
		if r := recover(); r != nil {
			given = answer{Panic: fmt.Sprint(r)}
		}
	}()
	var head struct{ Kind string }
	if err := json.Unmarshal(line, &head); err != nil {
		return answer{Panic: "request: " + err.Error()}
	}
	switch head.Kind {
	case "render":
		return render(line)
	case "yaml":
		return readYAML(line)
	case "set":
		return parseSet(line)
	}
	return answer{Panic: "unknown kind of request: " + head.Kind}
}

func main() {
	// The version of Go is not that of the released programs.
	chartutil.DefaultCapabilities.HelmVersion.GoVersion = ""
	common.DefaultCapabilities.HelmVersion.GoVersion = ""
	debug.SetMemoryLimit(1 << 30)
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			if err := out.Encode(respond(line)); err != nil {
				return
			}
		}
		if err == io.EOF {
			return
		}
	}
}
