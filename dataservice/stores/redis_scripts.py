"""What Redis does in one step, in its own language (Lua); all keys of one step are on one node of a cluster."""

from __future__ import annotations

TAKE = """
local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
"""

CLAIM = """
local fetched_at = redis.call('GETRANGE', KEYS[2], 0, 7)
local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] then return {0, fetched_at} end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return {1, fetched_at}
"""

REPLACE = """
local before = redis.call('GETRANGE', KEYS[1], 0, 7)
if #before < 8 then before = '' end
if before ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
return 1
"""

RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"

# A log is a stream whose ids are 0-1, 0-2 … in the order of all appends. Beside the streams: how many bytes each log
# has, the order in which the logs were appended to, and the last number and the sum of the bytes.
PARTS = """
local stream, after = KEYS[1] .. 'log:' .. ARGV[1], tonumber(ARGV[2])
local is_there = after == 0 or #redis.call('XRANGE', stream, '0-' .. after, '0-' .. after) > 0
return {is_there and 1 or 0, redis.call('XRANGE', stream, '0-' .. (is_there and after + 1 or 1), '+')}
"""

APPEND = """
local prefix, log, payload, most = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])
local last = redis.call('XREVRANGE', prefix .. 'log:' .. log, '+', '-', 'COUNT', 1)[1]
if (last and last[1] or '0-0') ~= '0-' .. ARGV[4] then return 0 end
local function add(name, part)
  local number = redis.call('HINCRBY', prefix .. 'totals', 'number', 1)
  redis.call('XADD', prefix .. 'log:' .. name, '0-' .. number, 'p', part)
  return number
end
local number = add(log, payload)
redis.call('HINCRBY', prefix .. 'sizes', log, #payload)
redis.call('ZADD', prefix .. 'order', number, log)
local bytes = redis.call('HINCRBY', prefix .. 'totals', 'bytes', #payload)
while bytes > most do
  local oldest = redis.call('ZRANGE', prefix .. 'order', 0, 0)[1]
  if oldest == log then break end
  redis.call('ZREM', prefix .. 'order', oldest)
  redis.call('DEL', prefix .. 'log:' .. oldest)
  add(oldest, '')
  bytes = redis.call('HINCRBY', prefix .. 'totals', 'bytes', -tonumber(redis.call('HGET', prefix .. 'sizes', oldest)))
  redis.call('HSET', prefix .. 'sizes', oldest, 0)
end
return number
"""

FOLD = """
local prefix, log, payload = KEYS[1], ARGV[1], ARGV[2]
local stream, freed = prefix .. 'log:' .. log, 0
for place = 3, #ARGV do
  local found = redis.call('XRANGE', stream, '0-' .. ARGV[place], '0-' .. ARGV[place])
  if #found == 0 then return 0 end
  freed = freed + #found[1][2][2]
end
local number = redis.call('HINCRBY', prefix .. 'totals', 'number', 1)
redis.call('XADD', stream, '0-' .. number, 'p', payload)
for place = 3, #ARGV do redis.call('XDEL', stream, '0-' .. ARGV[place]) end
redis.call('HINCRBY', prefix .. 'sizes', log, #payload - freed)
redis.call('HINCRBY', prefix .. 'totals', 'bytes', #payload - freed)
return 1
"""

DELETE_LOG = """
local prefix, log = KEYS[1], ARGV[1]
local size = tonumber(redis.call('HGET', prefix .. 'sizes', log) or 0)
redis.call('HINCRBY', prefix .. 'totals', 'bytes', -size)
redis.call('HDEL', prefix .. 'sizes', log)
redis.call('ZREM', prefix .. 'order', log)
return redis.call('DEL', prefix .. 'log:' .. log)
"""
