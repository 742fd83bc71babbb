-- Sends the requests of a file in order, from one of them on, and prints what came back as one line of JSON.
local requests, next = {}, 0

function init(args)
  local file = assert(io.open(args[1], "rb"))
  for request in file:read("*a"):gmatch("[^%z]+") do requests[#requests + 1] = request end
  file:close()
  next = tonumber(args[2])
end

function request()
  next = next + 1
  return requests[next % #requests + 1]
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.status + errors.connect + errors.read + errors.write + errors.timeout
  local line = '{"count":%d,"seconds":%f,"failed":%d,"p99":%f}\n'
  io.write(line:format(summary.requests, summary.duration / 1e6, failed, latency:percentile(99) / 1000))
end
