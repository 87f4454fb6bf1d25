// The forms in which a secret is written without being changed: as it is, within JSON, within an address, as base64 (alone
// or within something longer), and line by line, since logs are.

/** Lines and pieces of base64 that are shorter could be anything. */
const MIN_PIECE = 8;

/** Each at least `minLength` long; no two alike. */
export function formsOf(secret: string, minLength: number): string[] {
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  const texts = [secret, ...(lines.length > 1 ? lines.filter((line) => line.length >= MIN_PIECE) : [])];
  const forms = texts.flatMap((text) => {
    const asJson = JSON.stringify(text).slice(1, -1);
    const encoded = percentEncoded(text);
    return [
      text,
      asJson,
      asciiJson(asJson),
      // JSON within JSON, as a structured line that holds a serialized answer.
      JSON.stringify(asJson).slice(1, -1),
      encoded,
      encoded.replaceAll("%20", "+"),
      encoded.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()),
      formEncoded(text),
    ];
  });
  return [...new Set([...forms, ...base64Forms(secret)])].filter((form) => form.length >= minLength);
}

/** As encoders write it that escape everything beyond ASCII. */
const asciiJson = (json: string): string =>
  // One code unit at a time, so that pairs become two escapes.
  json.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

function percentEncoded(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return text; // half a surrogate pair has no such form
  }
}

const formEncoded = (text: string): string => new URLSearchParams([["", text]]).toString().slice(1);

/**
 * Base64 writes four characters for three bytes, so a secret looks different at each offset from a
 * multiple of three: all three, without the characters that its neighbours share.
 */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret, "utf8");
  return [0, 1, 2].flatMap((offset) => {
    const whole = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString("base64")
      .replace(/=+$/, "");
    const head = [0, 2, 3][offset] ?? 0;
    const tail = (offset + bytes.length) % 3 === 0 ? 0 : 1;
    const form = whole.slice(head, whole.length - tail);
    return form.length < MIN_PIECE ? [] : [form, form.replaceAll("+", "-").replaceAll("/", "_")];
  });
}
