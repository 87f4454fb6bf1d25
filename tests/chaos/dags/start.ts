/** When the schedule begins. The suite writes the moment of its own start here: a parsed file sees no environment. */
export const START = "2026-01-01T00:00:00Z";
