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
  local n = tonumber(redis.call('GET', counter) or '0') + 1
  if n < us then n = us end
  local text = digits(n)
  redis.call('SET', counter, text)
  return text
end

-- trim removes a few places whose records have expired.
local function trim(places, ends, before)
  local old = redis.call('ZRANGE', ends, '-inf', digits(before), 'BYSCORE', 'LIMIT', 0, 64)
  if #old > 0 then
    redis.call('ZREM', places, unpack(old))
    redis.call('ZREM', ends, unpack(old))
  end
end

-- enter puts a place into an index. last is when its record expires, in
-- milliseconds, or empty for never; raise keeps a later end that is known
-- already. The index itself expires a while after the last of its records.
local function enter(places, ends, member, last, raise, keep, before)
  local life = redis.call('PEXPIRETIME', places)
  local score = '+inf'
  if last ~= '' then score = last end
  redis.call('ZADD', places, 0, member)
  if raise then
    redis.call('ZADD', ends, 'GT', score, member)
  else
    redis.call('ZADD', ends, score, member)
  end
  trim(places, ends, before)
  if last == '' then
    if life >= 0 then
      redis.call('PERSIST', places)
      redis.call('PERSIST', ends)
    end
  elseif life == -2 or (life >= 0 and life < tonumber(last)) then
    local at = digits(tonumber(last) + keep)
    redis.call('PEXPIREAT', places, at)
    redis.call('PEXPIREAT', ends, at)
  end
end

-- leave removes a place that a record was at, on the same server. base begins
-- every key.
local function leave(base, place, key)
  local bucket, owner, order = string.match(place, '^([^%z]*)%z([^%z]*)%z([^%z]*)$')
  if bucket and bucket ~= '' then
    local begin = base .. '{' .. bucket .. '}:'
    local member = order .. '\0' .. key
    redis.call('ZREM', begin .. 'i:' .. owner, member)
    redis.call('ZREM', begin .. 'x:' .. owner, member)
  end
end

