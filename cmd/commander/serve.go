package main

import "context"

func serve(ctx context.Context, args []string) error { return nil }
