import { Redis } from "ioredis";

/** What happens to a Redis besides the product: keys that vanish, messages that nobody of it wrote. The caller disconnects. */
export const openRedis = (url: string): Redis => new Redis(url, { maxRetriesPerRequest: null });
