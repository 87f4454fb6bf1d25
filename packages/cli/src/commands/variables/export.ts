import type { Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { withSecrets } from "../../open-secrets.ts";
import { writeSecretFile } from "../../output/write-secret-file.ts";

export const exportVariables = (io: Io): Command =>
  newCommand(io, "export", {
    about: "Write the variables of the database to a file, as plain JSON that `import` reads.",
    examples: ["variables export variables.json", "variables export -"],
  })
    .argument("<file>", "The file, readable by you alone; - prints it.")
    .action(async (file: string) => {
      const rows = await withSecrets(io, async ({ secrets }) => await secrets.stored.listVariables());
      const readable = rows.filter((row) => row.problem === undefined);
      const content = Object.fromEntries(
        readable.map(({ key, value = "", description }) => [key, description ? { value, description } : value]),
      );
      await writeSecretFile(io, file, `${JSON.stringify(content, undefined, 2)}\n`);
      io.note(`${readable.length} of ${rows.length} variables were exported`);
      for (const { problem } of rows) if (problem !== undefined) io.note(problem);
    });
