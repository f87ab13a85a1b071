#!/bin/sh
# Asks a sidecar about the call on standard input. Exit code 0 and nothing else means that it may run; what to run is printed.
#
#   toolwarden serve --socket /tmp/toolwarden.sock --profile dangerous &
#   ./client.sh /tmp/toolwarden.sock < call.json
set -eu
answer=$(curl --silent --show-error --fail-with-body --max-time 90 --unix-socket "$1" --data-binary @- http://localhost/v1/invoke)
case $answer in
# The members come in this order, and a quote inside of a text is escaped, so nothing else looks like this.
'{"id":'*'","verdict":"allow","kind":null,'*) printf '%s\n' "$answer" ;;
*)
    printf 'not allowed: %s\n' "$answer" >&2
    exit 1
    ;;
esac
