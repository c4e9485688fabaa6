// Package views is the folder of everything a person sees, drawn by templ from plain structs that
// hold exactly what is shown. It imports nothing of ours but itself, so a page can be drawn
// without a database.
//
// What a handler must know:
//
//   - A page is layout.Page(shell, content); content is one component, such as clusters.ListBody.
//     Boosted links and forms take #main out of a whole page, so an answer to HX-Boosted is a page.
//     A request with HX-Request and without HX-Boosted wants a fragment; the doc of each fragment
//     says so.
//   - A form that was saved answers 303, or 204 with HX-Location
//     {"path": …, "target": "#main", "select": "#main", "swap": "outerHTML show:window:top",
//     "headers": {"HX-Boosted": "true"}} when HX-Request is set. A form that was not answers 422 (invalid) or 409 (stale) with the whole page.
//   - A live message is one root element with a stable id; the components named Live… and …Chunk are those.
//   - Downloads and the sign-in are plain links and forms (hx-boost=false), and answer without regard for htmx.
package views
