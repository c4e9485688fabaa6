package layout

import "strconv"

// plainNumber writes a code, which is never grouped.
func plainNumber(n int) string { return strconv.Itoa(n) }
