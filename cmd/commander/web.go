package main

import "context"

func (p *program) addWeb(ctx context.Context) error { return nil }
