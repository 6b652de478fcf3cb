-- Takes tokens from a bucket or reads it, with the arithmetic of src/engine/ratelimit/bucket.rs and the
-- clock of this server. Times are in nanoseconds.
--
-- A bucket is the time at which it is full, as seconds and nanoseconds: a Lua number cannot hold
-- the nanoseconds since 1970. A missing bucket is full. A batch that takes more tokens than the
-- bucket holds leaves a debt: a second key that expires when the debt is repaid.
--
-- KEYS    the bucket; its debt
-- ARGV    the time to refill one token; the time to refill an empty bucket; the tokens to take, or
--         0 to read; the time to refill the largest debt; the missing time that only the calling
--         instance knows; the part of it that is a debt; the tokens to give back first
-- Returns 1 if there were enough tokens, else 0; the time until the bucket is full; the time of
--         this server in milliseconds
local interval, depth, tokens = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local most_debt, known, known_debt = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local given_back = tonumber(ARGV[7])
local time = redis.call('TIME')
local second, nanos = tonumber(time[1]), time[2] * 1000

local stored = 0
local full_at = redis.call('GET', KEYS[1])
if full_at then
    local s, n = string.match(full_at, '^(%d+):(%d+)$')
    stored = math.max(0, (s - second) * 1e9 + (n - nanos))
end
local lacking = math.max(stored, known)
-- After a reduction of the bucket or of the clock, at most the new size and the debt are missing.
if lacking > depth then
    local debt = math.max(redis.call('PTTL', KEYS[2]) * 1e6, known_debt)
    lacking = math.min(lacking, depth + math.min(debt, most_debt))
end
lacking = math.max(0, lacking - given_back * interval)

local taken = 0
-- More tokens than the bucket holds need a full bucket.
if tokens > 0 and lacking + math.min(tokens * interval, depth) <= depth then
    lacking = lacking + tokens * interval
    taken = 1
end
if taken == 1 or lacking > stored or given_back > 0 then
    local full = nanos + lacking
    local seconds = math.floor(full / 1e9)
    local moment = string.format('%.0f:%.0f', second + seconds, full - seconds * 1e9)
    redis.call('SET', KEYS[1], moment, 'PX', string.format('%.0f', math.ceil(lacking / 1e6) + 1))
    if lacking > depth then
        redis.call('SET', KEYS[2], 1, 'PX', string.format('%.0f', math.ceil((lacking - depth) / 1e6)))
    end
end
return { taken, lacking, second * 1000 + math.floor(nanos / 1e6) }
