// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

var signals = map[string]syscall.Signal{"KILL": syscall.SIGKILL, "STOP": syscall.SIGSTOP, "CONT": syscall.SIGCONT}

// readPid: the first number of the file.
func readPid(path string) (int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) == 0 {
		return 0, fmt.Errorf("%s holds no process id", path)
	}
	pid, err := strconv.Atoi(fields[0])
	if err != nil || pid <= 1 {
		return 0, fmt.Errorf("%s holds no process id but %q", path, fields[0])
	}
	return pid, nil
}

// hasHalted tells whether the process does nothing any more: stopped, dead, or gone.
func hasHalted(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	// The name, in parentheses, may contain anything.
	rest := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	return len(rest) > 0 && strings.Contains("TtZX", rest[0])
}

// halt sends the signal and returns when the process has stopped or ended.
func halt(pid int, name string) error {
	if err := syscall.Kill(pid, signals[name]); err != nil {
		return fmt.Errorf("process %d: %w", pid, err)
	}
	for deadline := time.Now().Add(10 * time.Second); !hasHalted(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("process %d does not take signal %s", pid, name)
		}
	}
	return nil
}

func resume(pid int) error { return syscall.Kill(pid, signals["CONT"]) }
