// A daemon that stops and starts at once: it listens on the port that its argument names, and that is all.
package main

import (
	"net"
	"os"
)

// Makes the bytes of two releases differ; the build sets it.
var release = "none"

func main() {
	if len(os.Args) != 2 {
		println("quick-daemon", release, "wants a port")
		os.Exit(2)
	}
	listener, err := net.Listen("tcp", ":"+os.Args[1])
	if err != nil {
		println(err.Error())
		os.Exit(1)
	}
	for {
		connection, err := listener.Accept()
		if err != nil {
			os.Exit(1)
		}
		connection.Close()
	}
}
