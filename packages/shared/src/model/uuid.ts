/** A UUIDv7 (RFC 9562): 48 bits of milliseconds, then random. Ids made later sort later, so that indexes grow at one end. */
export function uuidv7(millis: number, random: Uint8Array): string {
  const bytes = Uint8Array.from(random.subarray(0, 16));
  let rest = Math.floor(millis);
  for (let i = 5; i >= 0; i--) {
    bytes[i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = Buffer.from(bytes).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
