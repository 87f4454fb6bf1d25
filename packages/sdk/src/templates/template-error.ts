/** A template cannot be rendered: its syntax, a name that is missing, or a limit. The message names the field. */
export class TemplateError extends Error {
  override readonly name: string = "TemplateError";
}
