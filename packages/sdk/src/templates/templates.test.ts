import { describe, expect, test } from "vitest";
import { FakeHost } from "../runtime/fake-host.ts";
import type { Json } from "../spec/index.ts";
import { render } from "./fixtures/render.ts";

describe("Airflow's names", () => {
  test.each<[string, Json]>([
    ["{{ ds }}", "2026-01-01"],
    ["{{ ds_nodash }}", "20260101"],
    ["{{ ts }}", "2026-01-01T00:00:00+00:00"],
    ["{{ ts_nodash }}", "20260101T000000"],
    ["{{ ts_nodash_with_tz }}", "20260101T000000+0000"],
    ["{{ logical_date }}", "2026-01-01 00:00:00+00:00"],
    ["{{ data_interval_end | ds }}", "2026-01-02"],
    ["{{ data_interval_start.strftime('%d %B %Y, %-H:%M') }}", "01 January 2026, 0:00"],
    ["{{ data_interval_end.add(days=1, months=1).isoformat() }}", "2026-02-03T00:00:00+00:00"],
    ["{{ (logical_date - macros.timedelta(hours=3)).hour }}", "21"],
    ["{{ data_interval_end - data_interval_start }}", "1 day, 0:00:00"],
    ["{{ logical_date.in_timezone('Asia/Tokyo').isoformat() }}", "2026-01-01T09:00:00+09:00"],
    ["{{ logical_date.start_of('week') | ds }}", "2025-12-29"],
    ["{{ macros.ds_add(ds, -5) }}", "2025-12-27"],
    ["{{ macros.ds_format(ds, '%Y-%m-%d', '%m/%d/%y') }}", "01/01/26"],
    ["{{ macros.datetime(2026, 2, 28).add(years=-2, days=1) | ds }}", "2024-02-29"],
    ["{{ macros.datetime.strptime('05.03.2026', '%d.%m.%Y') | ds }}", "2026-03-05"],
    ["{{ run_id }}", "scheduled__2026-01-01T00:00:00+00:00"],
    ["{{ dag.dag_id }}.{{ task.task_id }} {{ dag.tags }}", "templates_X.only ['a', 'b']"],
    ["{{ task.owner }} {{ ti.try_number }} {{ ti.map_index }}", "me 1 -1"],
    ["{{ dag_run.run_type }} {{ dag_run.conf['who'] }} {{ dag_run.conf.get('x', 'none') }}", "scheduled you none"],
    ["{{ params.table }} {{ params.rows | length }}", "users 3"],
    ["{{ inputs.file }}", "a.csv"],
    ["{{ task_instance_key_str | replace(dag.dag_id, 'd') }}", "d__only__20260101"],
  ])("%s is %s", async (template, expected) => {
    const got = await render(template, {
      conf: { who: "you" },
      params: { table: "users", rows: [1, 2, 3] },
      inputs: { file: "a.csv" },
    });
    expect(typeof got === "string" ? got.replace(/templates_\d+/, "templates_X") : got).toBe(expected);
  });

  test("variables, connections and XComs are fetched when a template asks for them", async () => {
    const host = new FakeHost();
    host.variables.set("bucket", "b1").set("config", '{"days": [1, 2]}');
    host.connections.set("pg", { connectionId: "pg", connType: "postgres", host: "db", extra: { mode: "x" } });
    host.xcoms.set("D/scheduled__2026-01-01T00:00:00+00:00/load/-1/return_value", { rows: 7 });
    const template =
      "{{ var.value.bucket }} {{ var.json.config.days[1] }} {{ var.value.get('no', 'default') }} {{ conn.pg.host }}" +
      " {{ conn.pg.extra_dejson.mode }} {{ ti.xcom_pull('load', dag_id='D').rows }} {{ ti.xcom_pull(task_ids='no') }}";
    expect(await render(template, { host })).toBe("b1 2 default db x 7 None");
    const loop = "{% for name in ['bucket', 'config'] %}{{ var.value[name] | length }};{% endfor %}";
    expect(await render(loop, { host })).toBe("2;16;");
  });

  test("a run that assets started has their events, by the uri of each", async () => {
    const of = { group: "asset", sourceDagId: "D", sourceTaskId: "t", sourceRunId: "r", sourceMapIndex: -1 };
    const event = (id: number, uri: string) => ({
      ...{ id, uri, name: uri, ...of, extra: { rows: id }, partitionKey: null, aliases: [] },
      timestamp: `2026-01-0${id}T00:00:00Z`,
    });
    const triggeringAssetEvents = [event(1, "s3://a"), event(2, "s3://b"), event(3, "s3://a")];
    const template =
      "{% for uri, events in triggering_asset_events.items() %}{{ uri }}:{% for e in events %}{{ e.extra.rows }}@" +
      "{{ e.timestamp | ds }} {{ e.source_dag_id }}.{{ e.source_task_id }} {{ e.asset.name }};{% endfor %}{% endfor %}";
    expect(await render(template, { triggeringAssetEvents })).toBe(
      "s3://a:1@2026-01-01 D.t s3://a;3@2026-01-03 D.t s3://a;s3://b:2@2026-01-02 D.t s3://b;",
    );
    const first = "{{ (triggering_asset_events.values() | first | first).extra.rows }}";
    expect(await render(first, { triggeringAssetEvents })).toBe("1");
    expect(await render("{{ triggering_asset_events | length }}")).toBe("0");
  });

  test("a run without a logical date has none of the names that come from it", async () => {
    expect(await render("{{ ds }}", { logicalDate: null })).toBe(
      'TemplateError: template field "field" of task "only": "ds" is not defined: this run has no logical date; run_id and dag_run.run_after are there',
    );
    expect(await render("{{ ds is defined }}", { logicalDate: null })).toBe("False");
  });

  test("names that Airflow 3 took away say what to write", async () => {
    expect(await render("{{ execution_date }}")).toContain("write {{ logical_date }}");
    expect(await render("{{ tomorrow_ds }}")).toContain("macros.ds_add(ds, 1)");
  });
});

describe("Jinja", () => {
  test.each<[string, Json]>([
    ["{% for a, b in [(1, 2), (3, 4)] if a > 1 %}{{ loop.index }}{{ a + b }}{% else %}none{% endfor %}", "17"],
    ["{% if params.x is defined and params.x %}yes{% elif true %}else{% endif %}", "else"],
    [
      "{% set ns = namespace(sum=0) %}{% for i in range(4) %}{% set ns.sum = ns.sum + i %}{% endfor %}{{ ns.sum }}",
      "6",
    ],
    ["{% macro hi(who, n=2) %}{{ who * n }}{% endmacro %}{{ hi('a') }}{{ hi('b', n=1) }}", "aab"],
    [
      "{{ 'x' if false }}|{{ none }}|{{ true }}|{{ [1, 'a', none] }}|{{ {'k': 1.5} }}",
      "|None|True|[1, 'a', None]|{'k': 1.5}",
    ],
    ["{{ params.x | default('d') }} {{ '' | default('e', true) }}", "d e"],
    [
      "{{ [3, 1, 2] | sort | join(',') }} {{ 'a,b'.split(',')[-1] }} {{ 'abc'[::-1] }} {{ [1,2,3][1:] }}",
      "1,2,3 b cba [2, 3]",
    ],
    [
      "{{ 7 // 2 }} {{ -7 % 3 }} {{ 2 ** 10 }} {{ 7 / 2 }} {{ 1 < 2 }} {{ 'b' in 'abc' }} {{ 4 not in [1] }}",
      "3 2 1024 3.5 True True True",
    ],
    ["{% raw %}{{ not rendered }}{% endraw %}{# comment #}!", "{{ not rendered }}!"],
    ["{{ [{'n': 2}, {'n': 5}] | map(attribute='n') | sum }} {{ [1,2,3,4] | select('even') | list }}", "7 [2, 4]"],
    [
      "{{ {'a': [1, none]} | tojson }} {{ '[1]' | fromjson | first }} {{ '%05d|%s' | format(42, 'x') }}",
      '{"a":[1,null]} 1 00042|x',
    ],
    ["a\n{%- if true %} b{% endif %}\n", "a b\n"],
    ["echo ${#name} {{ 1 }}", "echo ${#name} 1"],
    ["no template: ${HOME} {x} 100%", "no template: ${HOME} {x} 100%"],
    ['{{ \'<a href="x">&\' | e }} {{ "\'" | escape }}', "&lt;a href=&#34;x&#34;&gt;&amp; &#39;"],
    ["{{ {'a b': 'x&y', 'c': 1} | urlencode }} {{ 'a b/c&' | urlencode }}", "a+b=x%26y&c=1 a%20b/c%26"],
    ["{{ 'the quick brown fox' | truncate(9) }} {{ 'a word' | truncate(3) }}", "the... a word"],
    ["{{ \"it's\" | quote }} {{ 'plain' | quote }}", `'it'"'"'s' plain`],
  ])("%s", async (template, expected) => {
    expect(await render(template)).toBe(expected);
  });

  test("objects and arrays are rendered to their leaves, and other values are left alone", async () => {
    const value = { a: ["{{ ds }}", 5, { b: "{{ ts }}" }], c: null, d: "x" };
    expect(await render(value)).toEqual({ a: ["2026-01-01", 5, { b: "2026-01-01T00:00:00+00:00" }], c: null, d: "x" });
  });

  test("what a function of the file gives is taken as it is", async () => {
    expect(await render(() => "{{ ds }}")).toBe("{{ ds }}");
  });

  test("a text stays a text unless the DAG renders native objects, and is never cut", async () => {
    expect(await render("123")).toBe("123");
    expect(await render("{{ params.label }}", { params: { label: "123" } })).toBe("123");
    expect(await render("{{ params.list }}", { params: { list: [1] } })).toBe("[1]");
    expect(await render("{{ params.list }}", { params: { list: [1] }, native: true })).toEqual([1]);
    expect(await render("{{ params.label }}", { params: { label: "123" }, native: true })).toBe("123");
    expect(await render("{{ params.n + 1 }}", { params: { n: 1 }, native: true })).toBe(2);
    const long = "x".repeat(100_000);
    expect(await render("{{ params.long }}\n", { params: { long } })).toBe(`${long}\n`);
  });
});

describe("what is not there is an error that names the task, the field and the name", () => {
  test.each([
    ["{{ nothing }}", '"nothing" is not defined'],
    ["{{ params.missing }}", '"params.missing" is not defined'],
    ["{{ params.a.b.c }}", '"params.a" is not defined'],
    ["{{ dag_run.conf['x'] }}", '"dag_run.conf["x"]" is not defined'],
    ["{{ var.value.missing }}", '"var.value.missing" is not defined: there is no such variable'],
    ["{{ var.json.plain }}", "var.json.plain is no JSON"],
    ["{{ conn.missing.host }}", '"conn.missing" is not defined: there is no such connection'],
    ["{% if nothing %}x{% endif %}", '"nothing" is not defined'],
    ["{% for x in nothing %}x{% endfor %}", '"nothing" is not defined'],
    ["{{ ds | nofilter }}", 'there is no filter "nofilter"'],
    ["{{ ds.nomethod() }}", '"ds.nomethod" is not defined'],
    ["{{ 1 < 3 < 2 }}", "comparisons cannot be chained"],
    ["{{ ds", "wrong syntax: "],
    ["{% include 'x' %}", "wrong syntax: "],
  ])("%s", async (template, message) => {
    const host = new FakeHost();
    host.variables.set("plain", "no JSON at all");
    expect(await render({ deep: [template] }, { host })).toContain(
      `TemplateError: template field "field.deep[0]" of task "only": ${message}`,
    );
  });
});

describe("a template that loops, or makes too much, fails with its name", () => {
  test.each(
    [
      "{% for i in range(1000000000) %}{% endfor %}",
      "{% for i in range(10000) %}{% for j in range(10000) %}{{ i }}{% endfor %}{% endfor %}",
      "{% set ns = namespace(x='a') %}{% for i in range(100) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
      "{% set ns = namespace(x=[1]) %}{% for i in range(100) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
      "{% set ns = namespace(x=[1]) %}{% for i in range(100) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
      "{{ 'a' * 1000000000 }}",
      "{{ ('a' * 1000000) | replace('a', 'b' * 1000000) }}",
      "{{ 'a'.ljust(1000000000) }}",
      "{{ 'a'.zfill(1000000000) }}",
      "{{ 'x' | indent(1000000000, true) }}",
      "{{ '%1000000000d' | format(1) }}",
      "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
      `{{ ${"[".repeat(20_000)}${"]".repeat(20_000)} }}`,
      "{% for i in range(1000) %}{{ var.value[i | string] | default('') }}{% endfor %}",
      // Long ones by their beginning.
    ].map((template) => [template.slice(0, 80), template]),
  )("%s", async (_title, template) => {
    const began = performance.now();
    expect(await render(template)).toMatch(/^TemplateError: template field "field" of task "only": /);
    expect(performance.now() - began).toBeLessThan(7_000);
  });
});

describe("no template gets at the process", () => {
  const roots = [
    "''",
    "[]",
    "{}",
    "1",
    "true",
    "none",
    "ti",
    "dag",
    "dag_run",
    "params",
    "macros",
    "macros.datetime",
    "logical_date",
    "var",
    "var.value",
    "conn",
    "range",
    "namespace()",
    "''.upper",
    "macros.timedelta(days=1)",
    "ti.xcom_pull",
    "dag_run.conf",
    "loop",
  ];
  const steps = [
    "constructor",
    "constructor.constructor('return process.pid')()",
    "__proto__",
    "__proto__.constructor",
    "__class__.__mro__",
    "__init__.__globals__",
    "prototype",
    "toString.constructor('return process.pid')()",
    "valueOf()",
    "hasOwnProperty('x')",
    "call",
    "apply",
    "bind",
    "host",
    "client",
    "at",
    "ms",
    "member('x')",
    "members",
    "__defineGetter__('x', range)",
  ];
  test.each(roots)("from %s", async (root) => {
    for (const step of steps) {
      for (const access of [
        `${root}.${step}`,
        `(${root})["${step.split(/[.(]/)[0] ?? ""}"]`,
        `${root} | attr("${step.split(/[.(]/)[0] ?? ""}")`,
      ]) {
        expect(await render(`{% for x in [1] %}{{ ${access} }}{% endfor %}`), access).toMatch(/^TemplateError: /);
      }
    }
  });

  test("data that is named like a way out is only data", async () => {
    const params = JSON.parse('{"__proto__": "p", "constructor": "c", "toString": "t"}') as Record<string, Json>;
    expect(await render("{{ params['__proto__'] }}{{ params.constructor }}{{ params.toString }}", { params })).toBe(
      "pct",
    );
    expect(await render("{{ {'__proto__': 1} | tojson }}")).toBe('{"__proto__":1}');
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test.each([
    "process",
    "globalThis",
    "require",
    "import",
    "Function",
    "eval",
    "self",
    "lipsum",
    "cycler",
    "get_flashed_messages",
  ])("%s is no name", async (name) => {
    expect(await render(`{{ ${name} }}`)).toMatch(/^TemplateError: /);
  });
});
