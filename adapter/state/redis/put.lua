-- Keys: record, counter; on one server also places and ends of the new owner.
-- Arguments: condition (-1 always, 0 absent, else the revision), when to expire
-- and one millisecond before (empty for never), what Get returns as expiry,
-- value, place, key, base (empty in a cluster), member, keep.
-- Returns the revision and the place before, or 0 for a conflict.
local cond, expires, last, shown = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local place, key, base = ARGV[6], ARGV[7], ARGV[8]
local old = redis.call('HMGET', KEYS[1], 'r', 'p')
if cond == '0' then
  if old[1] then return {'0', ''} end
elseif cond ~= '-1' and old[1] ~= cond then
  return {'0', ''}
end
local us = clock()
local now = math.floor(us / 1000)
local rev = grow(KEYS[2], us)
if expires ~= '' and tonumber(expires) <= now then
  redis.call('UNLINK', KEYS[1])
  if old[1] and base ~= '' then leave(base, old[2], key) end
  return {rev, old[2] or ''}
end
redis.call('HSET', KEYS[1], 'r', rev, 'e', shown, 'p', place, 'v', ARGV[5])
if expires ~= '' then
  redis.call('PEXPIREAT', KEYS[1], last)
elseif old[1] then
  redis.call('PERSIST', KEYS[1])
end
if base ~= '' then
  if old[1] and old[2] ~= place then leave(base, old[2], key) end
  if KEYS[3] then enter(KEYS[3], KEYS[4], ARGV[9], expires, false, tonumber(ARGV[10]), now) end
end
return {rev, old[2] or ''}
