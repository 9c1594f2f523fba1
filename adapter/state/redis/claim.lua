-- In a cluster only: enters a place before its record is written, and claims it
-- so that nobody takes the entry for a stale one meanwhile.
-- Keys: places, claims. Arguments: member, when the record expires or empty,
-- keep, grace in milliseconds.
local now = math.floor(clock() / 1000)
local grace = tonumber(ARGV[4])
enter(KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3]))
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', digits(now))
redis.call('ZADD', KEYS[2], digits(now + grace), ARGV[1])
redis.call('PEXPIRE', KEYS[2], digits(grace))
return 1
