-- Keys: record, counter; on one server also the places of the new owner.
-- Arguments: condition (-1 always, 0 absent, else the revision), when to expire
-- and one millisecond before (both empty for never), the record between revision
-- and value, value, place, key, base (empty in a cluster), member, keep.
-- Returns the revision and the place before, or 0 for a conflict.
local cond, expires, last = ARGV[1], ARGV[2], ARGV[3]
local place, key, base = ARGV[6], ARGV[7], ARGV[8]
local old, before
if cond ~= '0' then
  old, before = head(KEYS[1])
  if cond ~= '-1' and old ~= cond then return {'0', ''} end
elseif redis.call('EXISTS', KEYS[1]) == 1 then
  return {'0', ''}
end
local us = clock()
local rev = grow(KEYS[2], us)
if expires ~= '' and tonumber(expires) * 1000 <= us then
  redis.call('UNLINK', KEYS[1])
  if old and base ~= '' then leave(base, before, key) end
  return {rev, before or ''}
end
if expires ~= '' then
  redis.call('SET', KEYS[1], rev .. ARGV[4] .. ARGV[5], 'PXAT', last)
else
  redis.call('SET', KEYS[1], rev .. ARGV[4] .. ARGV[5])
end
if base ~= '' then
  if old and before ~= place then leave(base, before, key) end
  if KEYS[3] then enter(KEYS[3], ARGV[9], expires, tonumber(ARGV[10])) end
end
return {rev, before or ''}
