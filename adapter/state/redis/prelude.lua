-- Parts that several scripts share; each script follows these lines.

-- clock returns the server's time in microseconds, which a double holds exactly.
local function clock()
  local t = redis.call('TIME')
  return t[1] * 1000000 + t[2]
end

-- digits renders a whole number without an exponent.
local function digits(n)
  return string.format('%.0f', n)
end

-- grow returns the next revision of a bucket, as digits.
local function grow(counter, us)
  local text = digits(us)
  local last = redis.call('SET', counter, text, 'GET')
  if last and tonumber(last) >= us then -- the clock went back, or stood still
    text = digits(last + 1)
    redis.call('SET', counter, text)
  end
  return text
end

-- head returns the revision and the place of a record, or nothing if there is
-- none. A record is: revision, expiry, length of the place, place, value, with a
-- space after each of the first three.
local function head(key)
  local text = redis.call('GETRANGE', key, 0, 255)
  if text == '' then return nil end
  local rev, length, from = string.match(text, '^(%d+) %-?%d* (%d+) ()')
  local last = from + length - 1
  if #text < last then text = redis.call('GETRANGE', key, 0, last) end
  return rev, string.sub(text, from, last)
end

-- enter puts a place into an index. last is when its record expires, in
-- milliseconds, or empty for never. The index itself expires a while after the
-- last of its records.
local function enter(places, member, last, keep)
  local life = redis.call('PEXPIRETIME', places)
  redis.call('ZADD', places, 0, member)
  if last == '' then
    if life >= 0 then redis.call('PERSIST', places) end
  elseif life == -2 or (life >= 0 and life < tonumber(last)) then
    redis.call('PEXPIREAT', places, digits(tonumber(last) + keep))
  end
end

-- leave removes a place that a record was at, on the same server. base begins
-- every key.
local function leave(base, place, key)
  local bucket, owner, order = string.match(place, '^([^%z]*)%z([^%z]*)%z([^%z]*)$')
  if bucket and bucket ~= '' then
    redis.call('ZREM', base .. '{' .. bucket .. '}:i:' .. owner, order .. '\0' .. key)
  end
end

