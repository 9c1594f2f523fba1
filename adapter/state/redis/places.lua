-- Keys: places, ends. Arguments: the bounds of a range of places, its limit,
-- how many milliseconds after their expiry places may be dropped.
-- Returns the time in milliseconds, then the members.
local now = math.floor(clock() / 1000)
trim(KEYS[1], KEYS[2], now - tonumber(ARGV[4]))
local found = redis.call('ZRANGE', KEYS[1], ARGV[1], ARGV[2], 'BYLEX', 'LIMIT', 0, ARGV[3])
table.insert(found, 1, digits(now))
return found
