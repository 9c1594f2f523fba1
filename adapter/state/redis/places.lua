-- Key: places. Arguments: the bounds of a range of places, the first empty for
-- one that begins anywhere; its limit.
-- Returns the time in milliseconds, then the members.
local from = ARGV[1]
if from == '' then from = '[' .. (redis.call('ZRANDMEMBER', KEYS[1]) or '') end
local found = redis.call('ZRANGE', KEYS[1], from, ARGV[2], 'BYLEX', 'LIMIT', 0, ARGV[3])
table.insert(found, 1, digits(math.floor(clock() / 1000)))
return found
