package render

import (
	"text/template"
	"text/template/parse"

	"commander/internal/memo"
)

// Names of what counts inside a template. No author can write them: they are unknown while it is parsed.
const (
	stepName  = "commander_step"
	enterName = "commander_enter"
	leaveName = "commander_leave"
	showName  = "commander_show"
)

// compiled is a template whose tree counts, with the functions that it uses. Executing changes neither.
type compiled struct {
	trees map[string]*parse.Tree
	used  map[string]bool
}

// remembered keeps what was compiled: the same text is rendered for people and for machines, and again
// for each cluster and each value that is typed.
var remembered = memo.Memo[compiled]{Size: 16 << 20}

// compile is compileAnew, unless the text was compiled before.
func compile(name, text string) (compiled, error) {
	return remembered.Of(name+"\x00"+text, func() (compiled, error) {
		trees, used, err := compileAnew(name, text)
		return compiled{trees, used}, err
	})
}

// compileAnew parses a template, puts what counts into its tree, and finds the functions that it uses. The
// error is a *Problem.
func compileAnew(name, text string) (trees map[string]*parse.Tree, used map[string]bool, err error) {
	if problem := tooNested(text); problem != nil {
		return nil, nil, problem
	}
	trees, err = parse.Parse(name, text, "{{", "}}", known(), builtins)
	if err != nil {
		return nil, nil, templateProblem(name, err)
	}
	used = map[string]bool{stepName: true, enterName: true, leaveName: true, showName: true}
	for _, tree := range trees {
		if tree.Root == nil {
			continue
		}
		cost := count(tree.Root, used)
		begin := call(tree.Root.Pos, enterName, cost)
		tree.Root.Nodes = append(append([]parse.Node{begin}, tree.Root.Nodes...), call(tree.Root.Pos, leaveName))
	}
	return trees, used, nil
}

// link makes a template of parsed trees with the functions that they use.
func link(name string, trees map[string]*parse.Tree, functions template.FuncMap) (*template.Template, error) {
	out := template.New(name).Funcs(functions).Option("missingkey=zero")
	for called, tree := range trees {
		if _, err := out.AddParseTree(called, tree); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// count gives the nodes below a node that are carried out when it is, once each, notes the functions
// among them, and puts what counts where the same nodes are carried out again and again: at the
// beginning of the body of a range.
func count(node parse.Node, used map[string]bool) int {
	switch n := node.(type) {
	case *parse.ListNode:
		total := 0
		if n != nil {
			for _, child := range n.Nodes {
				total += count(child, used)
			}
		}
		return total
	case *parse.ActionNode:
		total := 1 + count(n.Pipe, used)
		if len(n.Pipe.Decl) == 0 {
			// What is shown is written out whole before it is known how long it is.
			n.Pipe.Cmds = append(n.Pipe.Cmds, command(n.Pos, showName, n.Line))
		}
		return total
	case *parse.PipeNode:
		total := 0
		if n != nil {
			for _, c := range n.Cmds {
				total += count(c, used)
			}
		}
		return total
	case *parse.CommandNode:
		total := 0
		for _, arg := range n.Args {
			total += 1 + count(arg, used)
		}
		return total
	case *parse.ChainNode:
		return 1 + count(n.Node, used)
	case *parse.IdentifierNode:
		used[n.Ident] = true
	case *parse.IfNode:
		return 1 + count(n.Pipe, used) + count(n.List, used) + count(n.ElseList, used)
	case *parse.WithNode:
		return 1 + count(n.Pipe, used) + count(n.List, used) + count(n.ElseList, used)
	case *parse.TemplateNode:
		return 1 + count(n.Pipe, used)
	case *parse.RangeNode:
		body := 1 + count(n.List, used)
		n.List.Nodes = append([]parse.Node{call(n.Pos, stepName, body, n.Line)}, n.List.Nodes...)
		return 1 + count(n.Pipe, used) + count(n.ElseList, used)
	}
	return 1
}

// call is an action that calls a function of ours with numbers.
func call(at parse.Pos, name string, numbers ...int) *parse.ActionNode {
	return &parse.ActionNode{NodeType: parse.NodeAction, Pos: at, Pipe: &parse.PipeNode{
		NodeType: parse.NodePipe, Pos: at, Cmds: []*parse.CommandNode{command(at, name, numbers...)},
	}}
}

func command(at parse.Pos, name string, numbers ...int) *parse.CommandNode {
	c := &parse.CommandNode{NodeType: parse.NodeCommand, Pos: at, Args: []parse.Node{parse.NewIdentifier(name).SetPos(at)}}
	for _, n := range numbers {
		c.Args = append(c.Args, &parse.NumberNode{NodeType: parse.NodeNumber, Pos: at, IsInt: true, Int64: int64(n)})
	}
	return c
}
