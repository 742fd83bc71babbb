#!/bin/sh
# The panorama command with the user and the configuration of the systemd units. Install it as /usr/local/bin/panorama and
# run it with sudo: sudo panorama doctor
set -eu
set -a # what the file sets is exported
NODE_ENV=production DATA_DIR=/var/lib/panorama
. /etc/panorama/panorama.env
set +a
exec runuser -u panorama -- /usr/bin/node /opt/panorama/dist/bootstrap/panorama.cjs "$@"
