package clustermanager_test

import "commander/internal/fault"

var errAway = fault.New(fault.Unavailable, "fault.database_away")
