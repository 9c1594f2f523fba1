-- Key: lease. Arguments: token, ttl in milliseconds, or 0 to release it.
-- Returns whether the lease was still the token's.
local held = redis.call('GET', KEYS[1])
if not held or string.match(held, '^(%d+) ') ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then
  redis.call('UNLINK', KEYS[1])
else
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 1
