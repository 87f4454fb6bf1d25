import { describe, expect, it, test } from "vitest";
import { approval, collect, Dag, zip, zipLongest, type TaskGroup } from "../index.ts";
import { branch, shortCircuit } from "../operators/index.ts";

const NESTED = "nested mapping is not possible";

/** What is wrong with a DAG of which `declare` makes something that its types would not let pass. */
function problemsOf(declare: (dag: never) => unknown): string {
  const dag = new Dag("mapped", { schedule: null });
  declare(dag as never); // see above
  try {
    dag.spec();
    return "none";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** As JavaScript sees it. */
// oxlint-disable-next-line typescript/no-explicit-any -- what is wrong here, the compiler would refuse
type Untyped = any;

const returns = (dag: Untyped, id: string, options = {}) => dag.task(id, () => [1], options)();
const mapped = (dag: Untyped, id = "t", options = {}) => dag.task(id, (given: unknown) => given, options);
const group = (dag: Untyped): TaskGroup & { n: Untyped } => {
  const g = dag.taskGroup("g");
  return Object.assign(g, g.expand({ n: [1, 2] }));
};

describe("a mapping is refused", () => {
  it.each<[string, (dag: Untyped) => unknown, string]>([
    ["over a text", (dag) => mapped(dag).expand({ v: "abc" }), '"v" must be a list: an array, or the reference'],
    ["over an object", (dag) => mapped(dag).expand({ v: { a: 1 } }), "got an object: give Object.entries(…) of it"],
    ["over a factory", (dag) => mapped(dag).expand({ v: dag.task("l", () => [1]) }), "has to be called first"],
    ["over nothing", (dag) => mapped(dag).expand({}), "expand(…) needs at least one list"],
    ["without lists", (dag) => mapped(dag).expand(), "takes one object of named lists, got undefined"],
    ["over a list without a name", (dag) => mapped(dag).expand([1]), "takes one object of named lists, got an array"],
    ["of a group without lists", (dag) => dag.taskGroup("g").expand(null), "one object of named lists, got null"],
    [
      "of what is fixed",
      (dag) =>
        mapped(dag)
          .partial({ v: 1 })
          .expand({ v: [1] }),
      '"v" is in partial(…) and in expand(…)',
    ],
    [
      "of what is fixed, by objects",
      (dag) =>
        mapped(dag)
          .partial({ v: 1 })
          .expandKwargs([{ w: 1 }, { v: 2 }]),
      '"v" is in partial(…) and in expandKwargs(…)',
    ],
    ["by what is no object", (dag) => mapped(dag).expandKwargs([{}, 3]), "but number 1 is 3"],
    ["over an array of references", (dag) => mapped(dag).expand({ v: [returns(dag, "l")] }), "use concat(…) of lists"],
    ["over another DAG", (dag) => mapped(dag).expand({ v: returns(new Dag("x"), "l") }), 'of the DAG "x"'],
    [
      "over what is not stored",
      (dag) => mapped(dag).expand({ v: returns(dag, "l", { doXcomPush: false }) }),
      "stores no value",
    ],
    ["over what cannot be stored", (dag) => mapped(dag).expand({ v: [() => 1] }), "$[0] is a function"],
    [
      "over no lists together",
      (dag) => mapped(dag).expand({ v: (zip as Untyped)() }),
      "zip(…) needs at least one list",
    ],
    ["with a wrong filling", (dag) => mapped(dag).expand({ v: zipLongest(() => 1, [1], [2]) }), "$ is a function"],
    ["twice", (dag) => [mapped(dag).expand({ v: [1] }), dag.taskGroup("t")], '"t" is declared twice'],
    [
      "that does not wait",
      (dag) => mapped(dag, "t", { triggerRule: "always" }).expand({ v: returns(dag, "l") }),
      "must not use the trigger rule always: it has to wait",
    ],
    [
      "within a mapped group, that does not wait",
      (dag) => mapped(group(dag), "t", { triggerRule: "always" })(),
      'must not use the trigger rule always in the mapped group "g"',
    ],
    ["of a task within a mapped group", (dag) => mapped(group(dag)).expand({ v: [1] }), NESTED],
    ["of a group within a mapped group", (dag) => group(group(dag)), NESTED],
    ["over an element", (dag) => mapped(dag).expand({ v: group(dag).n }), NESTED],
    [
      "of a group over one of its own",
      (dag) => {
        const g = dag.taskGroup("g");
        g.expand({ n: returns(g, "l") });
      },
      "a group cannot wait for itself",
    ],
  ])("%s", (_what, declare, problem) => {
    expect(problemsOf(declare)).toContain(problem);
  });
});

describe("the values of a mapped group are seen from outside", () => {
  it("with collect alone, because a reference is of one index", () => {
    const inside = (dag: Untyped) => mapped(group(dag), "one")({ n: 1 });
    const wrong = /comes from task "g.one" of a mapped group, which has one value for each index: use collect/;
    expect(problemsOf((dag) => mapped(dag)({ v: inside(dag) }))).toMatch(wrong);
    expect(problemsOf((dag) => mapped(dag).expand({ v: inside(dag) }))).toMatch(wrong);
    expect(problemsOf((dag) => mapped(dag)({ v: collect(inside(dag)) }))).toBe("none");
    expect(problemsOf((dag) => mapped(dag).expand({ v: collect(inside(dag)) }))).toBe("none");
    expect(problemsOf((dag) => mapped(dag)({ v: collect(returns(dag, "l")) }))).toContain("which has one value here");
  });

  it("and elements not at all", () => {
    expect(problemsOf((dag) => mapped(dag)({ v: group(dag).n }))).toContain("which this task is not in");
  });
});

test("a field of a mapped task's values is refused, because they are a list; one of them is not", () => {
  const many = (dag: Untyped) => mapped(dag, "many").expand({ v: [1] });
  expect(problemsOf((dag) => mapped(dag)({ v: many(dag).get("v") }))).toContain('is the field "v" of what the mapped');
  expect(problemsOf((dag) => mapped(dag).expand({ v: many(dag).get("v") }))).toContain("map over all of it");
  expect(problemsOf((dag) => mapped(dag)({ v: many(dag).get(0) }))).toBe("none");
});

describe("what decides for one index", () => {
  const wrong = /is mapped and decides for its own index only, so that nothing of it would count for task "a"/;

  it("decides nothing outside of its group, and is refused there", () => {
    const outside = (decider: unknown) =>
      problemsOf((dag: Untyped) => {
        const a = returns(dag, "a");
        group(dag)
          .task(
            "decide",
            decider as Untyped,
          )({})
          .before(a);
      });
    expect(outside(branch(() => "a"))).toMatch(wrong);
    expect(outside(shortCircuit(() => false))).toMatch(wrong);
    expect(outside(approval({ subject: "Go on?" }))).toMatch(wrong);
    expect(outside(approval({ subject: "Go on?", failOnReject: true }))).toBe("none");
    expect(problemsOf((dag: Untyped) => dag.if(mapped(group(dag), "c")({})).then(returns(dag, "a")))).toMatch(wrong);
  });

  it("decides nothing at all where the task itself is mapped", () => {
    const declare = (dag: Untyped) =>
      dag
        .task(
          "c",
          branch(() => "a"),
        )
        .expand({ v: [1] })
        .before(returns(dag, "a"));
    expect(problemsOf(declare)).toMatch(wrong);
  });

  it("is well within its group", () => {
    const declare = (dag: Untyped) => {
      const g = group(dag);
      const [yes, no] = [returns(g, "yes"), returns(g.taskGroup("deeper"), "no")];
      dag.if(mapped(g, "c")({})).then(yes).else(no);
      const after = mapped(dag, "after", { triggerRule: "all_done" })({ all: collect(yes as never) });
      after.after(no);
    };
    expect(problemsOf(declare)).toBe("none");
  });
});
