bb-wait-for-approval
