-- Battles with random numbers of armies; the first argument is the pause after each, in milliseconds.
local pause = 0

function init(arguments)
  pause = tonumber(arguments[1] or "0")
  math.randomseed(os.time())
end

function delay()
  return pause
end

function request()
  local attackers, defenders = math.random(2, 40), math.random(1, 40)
  return wrk.format("GET", "/api/v1/battle?attackers=" .. attackers .. "&defenders=" .. defenders)
end

function done(summary, latency, requests)
  local lost = summary.errors
  io.write(string.format(
    '\n{"requests": %d, "seconds": %f, "half": %f, "most": %f, "lost": %d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e6,
    latency:percentile(99) / 1e6,
    lost.connect + lost.read + lost.write + lost.timeout + lost.status
  ))
end
