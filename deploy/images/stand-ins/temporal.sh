#!/bin/sh
# temporal-dev-server listens on loopback alone: what other containers send reaches it by a forwarder.
set -eu
export USER=temporal HOME=/data # its library asks who runs it, and 65532 is in no passwd here
address=$(hostname -i | cut -d' ' -f1)
socat "TCP-LISTEN:7233,bind=$address,fork,reuseaddr" TCP:127.0.0.1:7233 &
exec temporal-dev-server -db-filename /data/temporal.db -synchronous 2 -port 7233 \
  -search-attributes GroupID,ChainProfileID,RolloutID,Strategy,NodeID,CorrelationID
