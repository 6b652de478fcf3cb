-- Takes tokens from a bucket, or looks at it: src/ratelimit/bucket.rs, on the clock of this server.
--
-- A bucket is the moment at which it will be full, as seconds and nanoseconds: a number of Lua's
-- does not hold the nanoseconds since 1970. One that is missing is full.
--
-- KEYS  the bucket
-- ARGV  nanoseconds that a token takes to come back; those that an empty bucket takes to fill;
--       those that it lacks at least, as one instance knows alone; the tokens to take, 0 to look;
--       those that it can lack at most, after the largest debt
-- Says  1 if there were enough tokens, else 0; the nanoseconds that the bucket lacks; the time in
--       milliseconds
local interval, depth, known = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local tokens, most = tonumber(ARGV[4]), tonumber(ARGV[5])
local time = redis.call('TIME')
local second, nanos = tonumber(time[1]), time[2] * 1000

local stored = 0
local full_at = redis.call('GET', KEYS[1])
if full_at then
    local s, n = string.match(full_at, '^(%d+):(%d+)$')
    stored = math.max(0, (s - second) * 1e9 + (n - nanos))
end
-- More than the largest debt is lacking where a bucket has shrunk, or where the clock was set back.
local lacking = math.min(math.max(stored, known), most)

local taken = 0
-- More tokens than the bucket holds need a full bucket and leave a debt.
if tokens > 0 and lacking + math.min(tokens * interval, depth) <= depth then
    lacking = lacking + tokens * interval
    taken = 1
end
if lacking ~= stored then
    local full = nanos + lacking
    local seconds = math.floor(full / 1e9)
    local moment = string.format('%.0f:%.0f', second + seconds, full - seconds * 1e9)
    redis.call('SET', KEYS[1], moment, 'PX', string.format('%.0f', math.ceil(lacking / 1e6) + 1))
end
return { taken, lacking, second * 1000 + math.floor(nanos / 1e6) }
