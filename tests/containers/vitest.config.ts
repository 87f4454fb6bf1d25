// `npm run test:containers`, apart from `npm test`: it builds an image, which takes minutes and needs an engine.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["*.spec.ts"],
    passWithNoTests: false,
    testTimeout: 180_000,
    hookTimeout: 900_000,
  },
});
