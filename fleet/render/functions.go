package render

import (
	"sync"
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

// banned are sprig's functions that read the environment or the network, or make keys that
// could not be made the same way again.
var banned = []string{
	"env", "expandenv", "getHostByName",
	"genPrivateKey", "genCA", "genCAWithKey", "genSelfSignedCert", "genSelfSignedCertWithKey",
	"genSignedCert", "genSignedCertWithKey", "derivePassword", "encryptAES", "htpasswd", "bcrypt", "buildCustomCert",
}

// builtins are the functions of text/template, whose names the parser must know.
var builtins = map[string]any{
	"and": true, "or": true, "not": true, "len": true, "index": true, "slice": true, "call": true,
	"eq": true, "ne": true, "lt": true, "le": true, "gt": true, "ge": true,
	"print": true, "printf": true, "println": true, "html": true, "js": true, "urlquery": true,
}

// light are functions that look at the outside of their arguments only, and make nothing of size.
var light = set(
	"get", "set", "unset", "hasKey", "first", "mustFirst", "last", "mustLast", "default", "empty", "coalesce", "all", "any",
	"ternary", "list", "tuple", "dict", "typeOf", "typeIs", "typeIsLike", "kindOf", "kindIs", "dig", "now", "uuidv4", "fail",
)

// shallow are functions that copy a list or a dictionary without what is in it.
var shallow = set(
	"append", "push", "mustAppend", "mustPush", "prepend", "mustPrepend", "initial", "mustInitial", "rest", "mustRest",
	"reverse", "mustReverse", "slice", "mustSlice", "concat", "chunk", "mustChunk", "keys", "values", "pick", "omit", "pluck",
)

func set(names ...string) map[string]bool {
	out := map[string]bool{}
	for _, name := range names {
		out[name] = true
	}
	return out
}

// plain are the functions that need to know nothing of a rendering.
var plain = sync.OnceValue(func() template.FuncMap {
	all := sprig.TxtFuncMap()
	for _, name := range banned {
		delete(all, name)
	}
	for name, function := range ordered {
		all[name] = function
	}
	for name, function := range printing {
		all[name] = function
	}
	return all
})

// known are the names that an author may use.
var known = sync.OnceValue(func() map[string]any {
	names := map[string]any{}
	for name := range plain() {
		names[name] = true
	}
	for name := range seeded(Input{}) {
		names[name] = true
	}
	return names
})

// functions are those that a template uses, as one rendering has them.
func functions(in Input, used map[string]bool) template.FuncMap {
	b := in.Budget
	out := template.FuncMap{stepName: b.step, enterName: b.enter, leaveName: b.leave, showName: b.show}
	var chance template.FuncMap
	for name := range used {
		if out[name] != nil {
			continue
		}
		function, is := plain()[name]
		if drawn[name] {
			if chance == nil {
				chance = seeded(in)
			}
			function, is = chance[name], true
		}
		switch {
		case !is: // one of text/template's own
		case light[name]:
			out[name] = function
		case shallow[name]:
			out[name] = b.counted(function)
		default:
			out[name] = b.weighed(function, bounds[name])
		}
	}
	return out
}
