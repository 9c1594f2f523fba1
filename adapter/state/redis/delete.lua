-- Key: record. Arguments: condition, as for put; key; base (empty in a cluster).
-- Returns 1 and the place of what is gone (empty if nothing was), or 0 for a
-- conflict.
local cond, key, base = ARGV[1], ARGV[2], ARGV[3]
local old = redis.call('HMGET', KEYS[1], 'r', 'p')
if cond == '0' then
  if old[1] then return {0, ''} end
elseif cond ~= '-1' and old[1] ~= cond then
  return {0, ''}
end
if not old[1] then return {1, ''} end
redis.call('UNLINK', KEYS[1])
if base ~= '' then leave(base, old[2], key) end
return {1, old[2]}
