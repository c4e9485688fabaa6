package ui

import "strconv"

// number writes a number for machines.
func number(n int) string { return strconv.Itoa(n) }

// lineID is the id that a line of a log is reached by.
func lineID(log string, n int) string { return log + "-" + strconv.Itoa(n) }
