// Command bare is the floor below which no server in Go gets: it answers every request over TLS
// with the bytes of a file, and does nothing else.
package main

import (
	"flag"
	"log"
	"net/http"
	"os"
	"time"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address to serve on")
	cert := flag.String("tls-cert", "", "certificate file")
	key := flag.String("tls-key", "", "key file of the certificate")
	body := flag.String("body", "", "file that is the answer")
	flag.Parse()
	page, err := os.ReadFile(*body)
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{
		Addr: *listen, ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write(page) // who went away needs no answer
		}),
	}
	log.Fatal(server.ListenAndServeTLS(*cert, *key))
}
