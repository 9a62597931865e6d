// What go/ast sees in Go files: one line of JSON per definition. Paths come on standard input.
package main

import (
	"bufio"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
)

type row struct {
	Path  string `json:"path"`
	Name  string `json:"name,omitempty"`
	Kind  string `json:"kind,omitempty"`
	Line  int    `json:"line,omitempty"`
	End   int    `json:"end,omitempty"`
	Error string `json:"error,omitempty"`
}

func main() {
	out := json.NewEncoder(os.Stdout)
	paths := bufio.NewScanner(os.Stdin)
	for paths.Scan() {
		read(paths.Text(), out)
	}
}

func read(path string, out *json.Encoder) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		out.Encode(row{Path: path, Error: err.Error()})
		return
	}
	// PositionFor without //line comments: lines of this file, as everyone else counts them.
	emit := func(name, kind string, from, to token.Pos) {
		if name != "_" {
			out.Encode(row{path, name, kind, files.PositionFor(from, false).Line, files.PositionFor(to-1, false).Line, ""})
		}
	}
	start := map[ast.Spec]token.Pos{} // a specification without parentheses begins at its keyword
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.FuncDecl:
			kind := "function"
			if n.Recv != nil {
				kind = "method"
			}
			emit(n.Name.Name, kind, n.Type.Pos(), n.End())
		case *ast.GenDecl:
			for _, spec := range n.Specs {
				start[spec] = spec.Pos()
				if !n.Lparen.IsValid() {
					start[spec] = n.TokPos
				}
			}
		case *ast.TypeSpec:
			emit(n.Name.Name, "type", start[n], n.End())
		case *ast.InterfaceType:
			for _, method := range n.Methods.List {
				if _, isMethod := method.Type.(*ast.FuncType); isMethod {
					for _, name := range method.Names {
						emit(name.Name, "method", method.Type.Pos(), method.Type.End())
					}
				}
			}
		case *ast.ValueSpec:
			if len(n.Names) == 1 && len(n.Values) == 1 {
				if _, isFunction := n.Values[0].(*ast.FuncLit); isFunction {
					emit(n.Names[0].Name, "function", start[n], n.End())
				}
			}
		case *ast.AssignStmt:
			if len(n.Lhs) == 1 && len(n.Rhs) == 1 && n.Tok == token.DEFINE {
				if _, isFunction := n.Rhs[0].(*ast.FuncLit); isFunction {
					emit(n.Lhs[0].(*ast.Ident).Name, "function", n.Pos(), n.End())
				}
			}
		}
		return true
	})
}
