// Messages that come in another order than they were sent in: BullMQ's queues are held for a moment, so that several
// gather, and given back shuffled, as are the wakes. Each of the two is one step for the server: nothing is lost or
// doubled by it.
import { setTimeout as sleep } from "node:timers/promises";
import { Random } from "../random.ts";
import type { Servers } from "../rig/servers.ts";

const QUEUES = "millrace:*:meta";
const WAKES = "millrace:wake";
const HELD_MS = [100, 700] as const;

/** As BullMQ's own pause. */
const HOLD = `
for _, meta in ipairs(redis.call("keys", ARGV[1])) do
  redis.call("hset", meta, "paused", 1)
  redis.call("del", string.gsub(meta, "meta$", "marker") .. "")
end`;

/** Gives how many changed their places. */
const GIVE_BACK = `
math.randomseed(tonumber(ARGV[3]))
local moved = 0
local function shuffle(list)
  local items = redis.call("lrange", list, 0, -1)
  for i = #items, 2, -1 do
    local j = math.random(i)
    if i ~= j then moved = moved + 1 end
    items[i], items[j] = items[j], items[i]
  end
  redis.call("del", list)
  for _, item in ipairs(items) do redis.call("rpush", list, item) end
  return #items
end
for _, meta in ipairs(redis.call("keys", ARGV[1])) do
  local queue = string.sub(meta, 1, -5)
  local waiting = shuffle(queue .. "wait")
  redis.call("hdel", meta, "paused")
  if waiting > 0 then redis.call("zadd", queue .. "marker", 0, "0") end
end
shuffle(ARGV[2])
return moved`;

/** A server that goes away meanwhile takes the fault with it. */
export async function reorder(
  servers: Servers,
  { ms, seed }: { readonly ms: number; readonly seed: number },
): Promise<string> {
  const random = new Random(seed);
  const until = performance.now() + ms;
  let moved = 0;
  try {
    while (performance.now() < until) {
      await servers.redisCommand((redis) => redis.eval(HOLD, 0, QUEUES));
      await sleep(random.between(...HELD_MS));
      moved += await giveBack(servers, random.below(1_000_000));
      await sleep(50);
    }
  } finally {
    await giveBack(servers, 0).catch(() => undefined);
  }
  return `${moved} messages changed their places`;
}

/** Also at the end: Redis may have come back with an old copy of itself, in which its queues are held. */
export async function giveBack(servers: Servers, seed = 0): Promise<number> {
  return (await servers.redisCommand((redis) => redis.eval(GIVE_BACK, 0, QUEUES, WAKES, seed))) as number;
}
