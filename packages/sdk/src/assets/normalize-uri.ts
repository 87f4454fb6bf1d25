const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/?#]*)([^?#]*)(?:\?([^#]*))?/;

export const schemeOf = (uri: string): string | undefined => SCHEME.exec(uri)?.[1]?.toLowerCase();

/** The one form of a uri, so that two spellings of it are one asset. What does not look like a uri is left as it is. */
export function normalizeUri(uri: string): string {
  const [, scheme = "", authority = "", path = "", query = ""] = SCHEME.exec(uri) ?? [];
  if (scheme === "" || scheme.toLowerCase().startsWith("x-")) return uri;
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  const end = path.replace(/\/+$/, "");
  const sorted = query
    .split("&")
    .filter((pair) => pair !== "")
    .toSorted()
    .join("&");
  return `${scheme.toLowerCase()}://${host}${end === "" ? "/" : end}${sorted === "" ? "" : `?${sorted}`}`;
}
