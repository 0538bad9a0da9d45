# shellcheck shell=dash
# What an exact guest runs, with run() of guest.sh.

sleep 5 # After the boot, interrupts use much CPU time, which is in no process.
run verify camp verify --json
