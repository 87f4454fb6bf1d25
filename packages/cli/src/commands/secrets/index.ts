import type { Command } from "commander";
import { newGroup } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { rotateKey } from "./rotate-key.ts";

export const secrets = (io: Io): Command =>
  newGroup(
    io,
    "secrets",
    { about: "Look after the encryption of variables and connections.", examples: ["secrets rotate-key"] },
    [rotateKey].map((make) => make(io)),
  );
