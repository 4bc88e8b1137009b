// SPDX-License-Identifier: Apache-2.0

// faultproxy stands between a program and what it talks to, and disturbs them by rules; README.md tells which.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

type options struct {
	listen, to, certificate, key, authority, rules, log, control string
}

func main() {
	var o options
	flag.StringVar(&o.listen, "listen", "", "HOST:PORT, or unix:PATH for bytes between UNIX sockets")
	flag.StringVar(&o.to, "to", "", "https://HOST:PORT of the API server, or unix:PATH")
	flag.StringVar(&o.certificate, "cert", "", "certificate that clients see (PEM)")
	flag.StringVar(&o.key, "key", "", "its key (PEM)")
	flag.StringVar(&o.authority, "ca", "", "authority of the API server's certificate (PEM)")
	flag.StringVar(&o.rules, "rules", "", "rule file; without it nothing is disturbed")
	flag.StringVar(&o.log, "log", "", "where the log goes; by default stdout")
	flag.StringVar(&o.control, "control", "", "UNIX socket to set rules and ask for faults at")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "faultproxy:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	out := os.Stdout
	if o.log != "" {
		file, err := os.OpenFile(o.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		defer file.Close()
		out = file
	}
	log := NewLog(out)
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	if strings.HasPrefix(o.listen, "unix:") {
		return runBytes(o, log, ended)
	}
	return runHTTP(o, log, ended)
}

func runBytes(o options, log *Log, ended <-chan os.Signal) error {
	target, is := strings.CutPrefix(o.to, "unix:")
	if !is {
		return fmt.Errorf("--to: unix:PATH is needed when --listen is one")
	}
	pipe := &BytePipe{log: log, dial: func() (net.Conn, error) { return net.Dial("unix", target) }}
	if o.rules != "" {
		file, err := os.Open(o.rules)
		if err != nil {
			return err
		}
		defer file.Close()
		if pipe.rules, err = ParseByteRules(file); err != nil {
			return fmt.Errorf("%s: %w", o.rules, err)
		}
	}
	listener, err := listenUnix(strings.TrimPrefix(o.listen, "unix:"))
	if err != nil {
		return err
	}
	go func() {
		<-ended
		listener.Close()
	}()
	return pipe.Serve(listener)
}

func loadProxy(o options, log *Log) (*Proxy, error) {
	server, err := url.Parse(o.to)
	if err != nil || server.Scheme != "https" || server.Host == "" {
		return nil, fmt.Errorf("--to: https://HOST:PORT is needed, not %q", o.to)
	}
	authority, err := os.ReadFile(o.authority)
	if err != nil {
		return nil, fmt.Errorf("--ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		return nil, fmt.Errorf("--ca: %s holds no certificate", o.authority)
	}
	proxy := NewProxy(server, &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, log)
	if o.rules != "" {
		file, err := os.Open(o.rules)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		rules, err := ParseRules(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.rules, err)
		}
		proxy.rules.Replace(rules)
	}
	return proxy, nil
}

func runHTTP(o options, log *Log, ended <-chan os.Signal) error {
	proxy, err := loadProxy(o, log)
	if err != nil {
		return err
	}
	if o.control != "" {
		listener, err := listenUnix(o.control)
		if err != nil {
			return fmt.Errorf("--control: %w", err)
		}
		go func() { _ = http.Serve(listener, proxy.Control()) }()
	}
	server := proxy.Server()
	server.Addr = o.listen
	go func() {
		<-ended
		server.Close()
	}()
	if err := server.ListenAndServeTLS(o.certificate, o.key); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
