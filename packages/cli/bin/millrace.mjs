#!/usr/bin/env node
import { existsSync } from "node:fs";
import "./register.mjs";

const source = new URL("../src/main.ts", import.meta.url);
await import(existsSync(source) ? source.href : new URL("../dist/main.js", import.meta.url).href);
