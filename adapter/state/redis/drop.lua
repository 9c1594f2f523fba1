-- Removes places whose records were seen to be gone.
-- Keys: places, claims; on one server then the record of each member.
-- Arguments: the time of places.lua before the records were looked at, how many
-- milliseconds that may be ago, and for each member: itself, its place.
--
-- On one server the records are looked at again. In a cluster they are
-- elsewhere, and it is claims that protect a record being written: its writer
-- claimed the place for a grace of three times the limit used here, and claims
-- it again if its write took longer than half of the grace.
local now = math.floor(clock() / 1000)
if now - tonumber(ARGV[1]) > tonumber(ARGV[2]) then return 0 end
local dropped = 0
for i = 3, #ARGV, 2 do
  local member, record = ARGV[i], KEYS[3 + (i - 3) / 2]
  local keep
  if record then
    local rev, place = head(record)
    keep = rev and place == ARGV[i + 1]
  else
    local claimed = redis.call('ZSCORE', KEYS[2], member)
    keep = claimed and tonumber(claimed) > now
  end
  if not keep then
    redis.call('ZREM', KEYS[1], member)
    dropped = dropped + 1
  end
end
return dropped
