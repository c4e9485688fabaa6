package templates

import "strconv"

// number writes a number for machines.
func number(n int) string { return strconv.Itoa(n) }
