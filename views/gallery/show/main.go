// Command show serves the gallery to a browser:
//
//	go run ./views/gallery/show -assets web/assets/dist
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"commander/views/gallery"
)

func main() {
	address := flag.String("listen", "127.0.0.1:8070", "where to serve")
	folder := flag.String("assets", "web/assets/dist", "folder of the bundle")
	flag.Parse()

	server := &http.Server{
		Addr:              *address,
		Handler:           gallery.Handler(*folder, 250*time.Millisecond),
		ReadHeaderTimeout: 5 * time.Second,
	}
	log.Printf("the gallery is at http://%s/", *address)
	if err := server.ListenAndServe(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
