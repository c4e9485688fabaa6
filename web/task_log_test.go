package web

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"commander/store"
	"commander/views/paths"
)

// long is a task whose log has 5,000 lines; line 1234 tells of an error, and 1234 and 4321 of a quota.
func (s *site) long() (id string) {
	s.t.Helper()
	task, d := s.running("prod")
	for part := range 10 {
		lines := make([]string, 500)
		for i := range lines {
			switch n := part*500 + i + 1; n {
			case 1234:
				lines[i] = "error: no Quota"
			case 4321:
				lines[i] = "the quota was raised"
			default:
				lines[i] = fmt.Sprintf("line %d", n)
			}
		}
		require.NoError(s.t, s.AppendLog(s.t.Context(), d, part+1, lines))
	}
	return task.ID.String()
}

func TestLogIsWholeInTheDownload(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.long()
	file := s.as("rita", store.RoleReadOnly).get(paths.TaskLog(id))
	require.Equal(t, "text/plain; charset=utf-8", file.Header.Get("Content-Type"))
	lines := strings.Split(strings.TrimSpace(file.text), "\n")
	require.Len(t, lines, 5000)
	require.Regexp(t, ` line 1$`, lines[0])
	require.Regexp(t, ` line 5000$`, lines[4999])
}

// TestALongLogIsShownInParts looks at each part that an address can ask for: the lines follow one
// another, and the ways to those before and after them are there when there are any.
func TestALongLogIsShownInParts(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.long()
	b := s.as("rita", store.RoleReadOnly)
	for _, c := range []struct {
		address             string
		first, last, marked int
	}{
		{paths.Task(id), 4001, 5000, 0},
		{paths.TaskLine(id, 1234), 1034, 2033, 1234},
		{paths.TaskLine(id, 1), 1, 1000, 1},
		{paths.TaskLine(id, 4100), 3900, 4899, 4100},
		{paths.TaskLine(id, 4999), 4001, 5000, 4999},
		{paths.TaskLine(id, 5001), 4001, 5000, 0},
		{paths.TaskLines(id, 3202), 3202, 4201, 0},
		{paths.TaskLines(id, 4500), 4500, 5000, 0},
		{paths.Task(id) + "?line=x", 4001, 5000, 0},
		{paths.Task(id) + "?from=-5", 4001, 5000, 0},
	} {
		page := b.get(c.address)
		require.Equal(t, http.StatusOK, page.StatusCode, c.address)
		lines := page.Find("[data-log] li")
		require.Equal(t, c.last-c.first+1, lines.Length(), c.address)
		require.Equal(t, strconv.Itoa(c.first), lines.First().AttrOr("data-n", ""), c.address)
		require.Equal(t, strconv.Itoa(c.last), lines.Last().AttrOr("data-n", ""), c.address)
		marked := ""
		if c.marked > 0 {
			marked = strconv.Itoa(c.marked)
		}
		require.Equal(t, marked, page.Find("[data-log] li.at").AttrOr("data-n", ""), c.address)
		_, nothingBefore := page.Find(".earlier").Attr("hidden")
		require.Equal(t, c.first == 1, nothingBefore, c.address)
		_, nothingAfter := page.Find(".later").Attr("hidden")
		require.Equal(t, c.last == 5000, nothingAfter, c.address)
		_, isPart := page.Find("[data-log]").Attr("data-part")
		require.Equal(t, c.last < 5000, isPart, "what does not reach the end does not grow: %s", c.address)
		live, _ := page.Find("[ws-connect]").Attr("ws-connect")
		require.Equal(t, paths.Live(10, paths.TopicTask(id)), live, c.address)
	}
	require.Equal(t, "4000", b.get(paths.Task(id)).Find("[data-earlier]").Text())
}

func TestTheFirstErrorIsFoundAnywhere(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.long()
	b := s.as("rita", store.RoleReadOnly)
	link := b.get(paths.Task(id)).Find("[data-first-error]")
	_, hidden := link.Attr("hidden")
	require.False(t, hidden, "the error is none of the lines that are shown")
	answer := b.get(link.AttrOr("href", ""))
	require.Equal(t, http.StatusSeeOther, answer.StatusCode)
	require.Equal(t, paths.TaskLine(id, 1234), answer.Header.Get("Location"))
	require.Equal(t, http.StatusForbidden, s.as("sam", "").get(paths.TaskTrouble(id)).StatusCode)
}

func TestASearchLooksAtTheWholeLog(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.long()
	b := s.as("rita", store.RoleReadOnly)
	page := b.get(paths.TaskSearch(id) + "?q=QUOTA")
	require.Equal(t, http.StatusOK, page.StatusCode)
	require.Contains(t, page.Find(".log-hits").Text(), "2 lines of the whole log")
	hits := page.Find(".log-hits a[data-line]")
	require.Equal(t, "1234", hits.First().AttrOr("data-line", ""))
	require.Contains(t, hits.First().AttrOr("href", ""), paths.TaskLine(id, 1234))
	require.Equal(t, "4321", hits.Last().AttrOr("data-line", ""))

	page = b.get(paths.TaskSearch(id) + "?q=line")
	require.Equal(t, 100, page.Find(".log-hits a[data-line]").Length())
	on := page.Find("[data-hits-on]").AttrOr("href", "")
	require.Equal(t, paths.TaskSearchOn(id, "line", 101), on)
	require.Equal(t, "101", b.get(on).Find(".log-hits a[data-line]").First().AttrOr("data-line", ""))

	require.Contains(t, b.get(paths.TaskSearch(id)+"?q=nowhere").Find(".log-hits").Text(), "No line")
	require.Empty(t, strings.TrimSpace(b.get(paths.TaskSearch(id)).Find(".log-hits").Text()))
	require.Equal(t, http.StatusForbidden, s.as("sam", "").get(paths.TaskSearch(id)+"?q=quota").StatusCode)
}
