-- Keys: lease, counter. Arguments: holder, ttl in milliseconds.
-- Returns 1 and the token, or 0 and the holder.
local held = redis.call('GET', KEYS[1])
if held then return {0, string.match(held, '^%d+ (.*)$') or ''} end
local token = grow(KEYS[2], clock())
redis.call('SET', KEYS[1], token .. ' ' .. ARGV[1], 'PX', ARGV[2])
return {1, token}
