import { userInfo } from "node:os";

/** Who types, for the audit log. A container may run as a number without a name. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? "unknown");
  }
}
