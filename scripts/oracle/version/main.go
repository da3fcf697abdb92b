// Asks Masterminds semver how it reads versions and constraints; writes golden/version.
//
// Usage: go run . ../../../golden/version
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/Masterminds/semver/v3"
)

var versions = []string{
	"", "1", "v1", "V1", "1.2", "v1.2", "1.2.3", "v1.2.3", "1.2.3.4", "01.2.3", "1.02.3", "1.2.03", "0.0.0", "0.0.1",
	"0.1.0", "0.1.1", "0.2.3", "1.0.0", "1.2.4", "1.3.0", "2.0.0", "2.2.1", "2.3.0", "10.0.0", "11.1.0", "11.2.1",
	"1.2.3-alpha", "1.2.3-alpha.1", "1.2.3-alpha.beta", "1.2.3-beta", "1.2.3-beta.2", "1.2.3-beta.11", "1.2.3-rc.1",
	"1.2.3-0", "1.2.3-01", "1.2.3-a.01", "1.2.3-0a", "1.2.3--", "1.2.3-", "1.2.3-a..b", "1.2.3-a_b", "1.2.3+build",
	"1.2.3+build.7", "1.2.3+", "1.2.3+a..b", "1.2.3+a+b", "1.2.3-rc.1+build.5", "1.2-rc.1", "1-rc.1", "v1.29.1-gke.100",
	"v1.31.4-eks-7f9249a", "1.34.0", "v1.34.0", "2.3.0-rc.0", "2.4.0-alpha.1", " 1.2.3", "1.2.3 ", "1.2.3\n", "1..3", ".1.2", "1.2.", "a.b.c", "1.x",
	"*", "-1.2.3", "1.-2.3", "18446744073709551615.0.0", "18446744073709551616.0.0", "1.99999999999999999999.0",
	"1.2.3-99999999999999999999", "1.2.3-18446744073709551615", "1.2.3-1", "1.2.3-x-y-z.4", "1.2.3-é", "é", "1.2.3+é",
	strings.Repeat("1", 257), "1.2.3-" + strings.Repeat("a", 250), "1.2.3-" + strings.Repeat("a", 251), "latest", "v", "1.2.3-ALPHA",
}

var bounds = []string{
	"1.2.3", "v1.2.3", "1.2", "1", "1.2.x", "1.x", "1.x.x", "x", "X", "*", "1.*", "1.2.*", "0", "0.0", "0.0.0", "0.0.3", "0.1",
	"0.2.3", "0.x", "0.0.x", "2.0", "11", "11.1", "1.2.3-beta.2", "1.2.3-0", "1.2-0", "1-0", "0.0.0-0", "*-0", "x.2.3", "1.x.3",
	"1.2.3+build", "2.3.0-rc.0", "1.25.0-0", "1.29.1",
}

var operators = []string{"", "=", "!=", ">", "<", ">=", "=>", "<=", "=<", "~", "~>", "^"}

var others = []string{
	"", " ", ">=1.2 <2", ">=1.2, <2", ">=1.2,<2", ">=1.2 , <2", ">= 1.2, < 2.0.0", ">=1.2<2", "1.2 1.2.3", "1.2.3 - 1.3.0", "1.2 - 2",
	"1.2 -2", "1.2- 2", "1.2-2", "v1.0.0 - v1.2.3", "1.0.0 - 1.2.3 || 2.0.0 - 3", "1.0 - 1.2 <1.2.3", "<1 || >=2", "<1||>=2", "1 || 2 || 11", "~1.2 || ^2.2",
	">=1.0.0-0 <3", ">=1.0 || >=2.0-0", "1.2.3 ||", "|| 1.2.3", "1.2.3 || || 2", ">", ">=", ">>1", ">==1", "==1.2.3", "=!1", "<>1", "~ >1", "~>= 1", "^^1",
	"1.2.3.4", "1.2.3.4 - 5", "a", "1.a", "1.xx", "xx", "1|2", "1|2.3", "**", "1.2.3-01", "1.2.3-", "1.2.3 -", "1.2.3,", ",1.2.3", "1.2.3,,2", "1.2.3 , , 2",
	"\t>=1.2\n<2\r", ">=1.2\v<2", "1.2.3é", "\"1.2\"", "a\tb\\", "\x00", "\u200b1", "☃ 1", "e\u0301", "\U0001F600", "'1'", ">= 1.25.0-0", ">=1.34.0-0 || 1.33", "99999999999999999999",
	"!=1.2.3 !=1.2.4", "!=1.2.3, >1", ">=1.9.0-0 <2.4.0-0", ">0.0.0-0", "1.2 - 1.4 - 1.6", " 1.2.3 ", "v", "=v1.2.3", "= v 1.2.3", "V1.2.3",
	strings.Repeat("1", 512), strings.Repeat("1", 513), strings.Repeat("1||", 31) + "1", strings.Repeat("1||", 32) + "1", "1." + strings.Repeat("1", 260), "3.x.x || 2.3.0-rc.0",
}

// Versions whose reasons are written down, one for each constraint in turn.
var probe = []string{"1.2.4", "0.0.1", "1.2.3-alpha", "2.3.0", "0.1.1", "1.2.3", "0.2.3"}

type table struct{ rows []string }

var escapes = strings.NewReplacer("\x00", `\0`, "\\", "\\\\", "\t", "\\t", "\n", "\\n", "\r", "\\r")

func (t *table) add(fields ...string) {
	for i, f := range fields {
		fields[i] = escapes.Replace(f)
	}
	t.rows = append(t.rows, strings.Join(fields, "\t"))
}

func (t *table) write(dir, name, head string) {
	text := "# " + head + "\n" + strings.Join(t.rows, "\n") + "\n"
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		panic(err)
	}
}

func describe(v *semver.Version, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	return fmt.Sprintf("%s %d %d %d [%s] [%s]", v, v.Major(), v.Minor(), v.Patch(), v.Prerelease(), v.Metadata())
}

func constraints() []string {
	all := append([]string{}, others...)
	for _, op := range operators {
		for _, bound := range bounds {
			all = append(all, op+bound)
		}
	}
	return all
}

func main() {
	dir := os.Args[1]
	var parse, compare, read, check, why table
	var good []*semver.Version
	for _, text := range versions {
		strict, strictErr := semver.StrictNewVersion(text)
		lenient, err := semver.NewVersion(text)
		parse.add(text, describe(strict, strictErr), describe(lenient, err))
		if err == nil && len(text) < 60 {
			good = append(good, lenient)
		}
	}
	for _, a := range good {
		line := ""
		for _, b := range good {
			line += string("<=>"[a.Compare(b)+1])
		}
		compare.add(a.Original(), line)
	}
	for i, text := range constraints() {
		c, err := semver.NewConstraint(text)
		if err != nil {
			read.add(text, "error: "+err.Error())
			continue
		}
		read.add(text, c.String())
		if len(text) > 100 {
			continue
		}
		line := ""
		for _, v := range good {
			ok, reasons := c.Validate(v)
			line += map[bool]string{true: "+", false: "-"}[c.Check(v)]
			if ok != c.Check(v) {
				panic("check and validate differ: " + text)
			}
			if v.Original() == probe[i%len(probe)] {
				why.add(text, v.Original(), strings.ReplaceAll(fmt.Sprint(errors.Join(reasons...)), "\n", "; "))
			}
		}
		check.add(text, line)
	}
	parse.write(dir, "parse.tsv", "version, strict reading, lenient reading")
	compare.write(dir, "compare.tsv", "version, how it compares with each version of this table")
	read.write(dir, "constraints.tsv", "constraint, how it prints or its error")
	check.write(dir, "check.tsv", "constraint, whether each version of compare.tsv satisfies it")
	why.write(dir, "reasons.tsv", "constraint, version, reasons")
}
