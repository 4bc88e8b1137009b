// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// A list of strings on the wire: their number, then length and bytes of each; numbers have 32 bits, little endian.
// Strings may hold anything.

type ours struct {
	command *exec.Cmd
	to      *bufio.Writer
	closing io.Closer
	from    *bufio.Reader
}

func start(program string) (*ours, error) {
	command := exec.Command(program)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	return &ours{command, bufio.NewWriterSize(in, 1<<16), in, bufio.NewReaderSize(out, 1<<16)}, nil
}

// ask: a program that died shows when its answer is read.
func (o *ours) ask(parts []string) {
	number := binary.LittleEndian.AppendUint32(nil, uint32(len(parts)))
	o.to.Write(number)
	for _, part := range parts {
		o.to.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(part))))
		o.to.WriteString(part)
	}
}

func (o *ours) flush() { o.to.Flush() }

func (o *ours) end() {
	o.flush()
	o.closing.Close()
}

func (o *ours) answer() ([]string, error) {
	n, err := o.number()
	if err != nil {
		return nil, err
	}
	parts := make([]string, 0, min(n, 64))
	for range n {
		size, err := o.number()
		if err != nil {
			return nil, err
		}
		if size > 64<<20 {
			return nil, fmt.Errorf("a part of %d bytes", size)
		}
		part := make([]byte, size)
		if _, err := io.ReadFull(o.from, part); err != nil {
			return nil, err
		}
		parts = append(parts, string(part))
	}
	return parts, nil
}

func (o *ours) number() (uint32, error) {
	var number [4]byte
	if _, err := io.ReadFull(o.from, number[:]); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(number[:]), nil
}

func (o *ours) wait() error { return o.command.Wait() }
