package ui

// SideCell is a line of one text beside another; its number is 0 where the other text has more lines.
type SideCell struct {
	Number int
	Text   string
}

// SideRow is a line of two texts side by side, or a gap of equal lines that are left out.
type SideRow struct {
	Left, Right SideCell
	Changed     bool
	Gap         int // how many equal lines stand here
}

// mostRows bounds what is drawn of a comparison: a page of more helps nobody.
const mostRows = 5000

// Sides puts two texts side by side: all of them, or only what differs and a little around it. cut
// tells that there was more than can be shown.
func Sides(before, after string, onlyChanged bool) (rows []SideRow, cut bool) {
	rows = beside(align(lines(before), lines(after)))
	if onlyChanged {
		rows = near(rows)
	}
	if len(rows) > mostRows {
		return rows[:mostRows], true
	}
	return rows, false
}

// beside pairs removed lines with those that were added in their place.
func beside(all []DiffLine) []SideRow {
	var rows []SideRow
	left, right := 0, 0
	for at := 0; at < len(all); {
		if all[at].Mark == ' ' {
			left, right = left+1, right+1
			rows = append(rows, SideRow{Left: SideCell{left, all[at].Text}, Right: SideCell{right, all[at].Text}})
			at++
			continue
		}
		var gone, come []SideCell
		for ; at < len(all) && all[at].Mark != ' '; at++ {
			if all[at].Mark == '-' {
				left++
				gone = append(gone, SideCell{left, all[at].Text})
			} else {
				right++
				come = append(come, SideCell{right, all[at].Text})
			}
		}
		for i := range max(len(gone), len(come)) {
			row := SideRow{Changed: true}
			if i < len(gone) {
				row.Left = gone[i]
			}
			if i < len(come) {
				row.Right = come[i]
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// near leaves out equal rows that are far from any difference.
func near(all []SideRow) []SideRow {
	keep := make([]bool, len(all))
	for i, row := range all {
		if !row.Changed {
			continue
		}
		for k := max(i-around, 0); k <= min(i+around, len(all)-1); k++ {
			keep[k] = true
		}
	}
	var out []SideRow
	gap := 0
	for i, row := range all {
		if !keep[i] {
			gap++
			continue
		}
		if gap > 0 {
			out = append(out, SideRow{Gap: gap})
			gap = 0
		}
		out = append(out, row)
	}
	if gap > 0 && len(out) > 0 {
		out = append(out, SideRow{Gap: gap})
	}
	return out
}

// Lines writes rows side by side as one column: what was removed before what came in its place.
func Lines(rows []SideRow) []DiffLine {
	var out []DiffLine
	var come []string
	flush := func() {
		out = mark(out, '+', come)
		come = nil
	}
	for _, r := range rows {
		switch {
		case r.Gap > 0:
			flush()
			out = append(out, DiffLine{'…', ""})
		case !r.Changed:
			flush()
			out = append(out, DiffLine{' ', r.Left.Text})
		default:
			if r.Left.Number > 0 {
				out = append(out, DiffLine{'-', r.Left.Text})
			}
			if r.Right.Number > 0 {
				come = append(come, r.Right.Text)
			}
		}
	}
	flush()
	return out
}
