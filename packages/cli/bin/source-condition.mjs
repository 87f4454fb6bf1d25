// A resolve hook that adds the `source` export condition: packages of this workspace resolve to src/.
export const resolve = (specifier, context, nextResolve) =>
  nextResolve(specifier, { ...context, conditions: [...context.conditions, "source"] });
