bb-reboot-if-needed
