package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestServersForgetWhoWasKilled finds what a killed server left, and leaves alone what is in use: by a
// living server, or by the process of an operation that outlives its server for a moment.
func TestServersForgetWhoWasKilled(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	folder := func() *workFolder {
		t.Helper()
		f, err := newWorkFolder(parent)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(f.path, "op-1", "cache"), 0o700); err != nil {
			t.Fatal(err)
		}
		return f
	}
	there := func(f *workFolder) bool {
		_, err := os.Stat(f.path)
		return err == nil
	}
	if err := os.WriteFile(filepath.Join(parent, "dhctl-lab.sock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	killed, outlived, living := folder(), folder(), folder()
	child := exec.Command("cat")
	child.ExtraFiles = []*os.File{outlived.lock}
	input, err := child.StdinPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	killed.lock.Close() // as the kernel does it
	outlived.lock.Close()
	last := folder()
	if there(killed) {
		t.Error("what a killed server left is still there")
	}
	if !there(outlived) || !there(living) || !there(last) {
		t.Error("a folder was removed that is in use")
	}
	living.remove()
	last.remove()
	input.Close()
	if err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	folder().remove()
	left, err := os.ReadDir(parent)
	if err != nil || len(left) != 1 || left[0].Name() != "dhctl-lab.sock" {
		t.Errorf("got %v, %v; want only what is no folder", left, err)
	}
}
