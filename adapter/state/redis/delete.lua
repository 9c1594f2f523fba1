-- Key: record. Arguments: condition, as for put; key; base (empty in a cluster).
-- Returns 1 and the place of what is gone (empty if nothing was), or 0 for a
-- conflict.
local cond, key, base = ARGV[1], ARGV[2], ARGV[3]
local old, before = head(KEYS[1])
if cond == '0' then
  if old then return {0, ''} end
elseif cond ~= '-1' and old ~= cond then
  return {0, ''}
end
if not old then return {1, ''} end
redis.call('UNLINK', KEYS[1])
if base ~= '' then leave(base, before, key) end
return {1, before}
