// The pages in a real browser, used as people use them: by what a screen reader calls things, with mouse and keyboard.
import {
  testBrowser,
  testDatabase,
  testRedisUrl,
  waitUntil,
  type BrowserPage,
  type MillraceProcess,
} from "@millrace/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openFleet, type Fleet } from "./fleet.ts";

const browser = await testBrowser();
const database = await testDatabase();
const weatherDatabase = await testDatabase();
const redisUrl = await testRedisUrl();

const LIST = "/dags?search=pages_";
/** Kept for whoever wants to look: a folder for pictures of what each test ends with. */
const PICTURES = process.env["PAGE_PICTURES"];

let fleet: Fleet;
let url: string;
let api: MillraceProcess;
let page: BrowserPage;

beforeAll(async () => {
  if (browser === undefined) return;
  fleet = await openFleet(database, redisUrl, weatherDatabase.url, {
    MILLRACE_VAR_PAGES_TOKEN: "s3cret-of-the-page",
    // Logins outlive a restart of the API.
    MILLRACE__API_AUTH__JWT_SECRET: "only for the tests of the pages, 32 bytes",
  });
  [api] = await Promise.all([fleet.start(["api"]), fleet.start(["dag-processor"])]);
  url = (await api.waitForLine(/ is ready at /)).replace(/^.* is ready at /, "");
  await waitUntil(async () => (await fleet.query("select from dag where dag_id like 'pages\\_%'")).length === 3, {
    what: "the DAGs of the pages are read",
    timeoutMs: 40_000,
  });
  page = await browser.open(`${url}/dags`);
  await page.find("textbox", "User name", ({ states }) => states["focused"] === true);
  await page.type("admin");
  await page.press("Tab");
  await page.type("let me in");
  await page.press("Enter");
  await page.find("heading", "DAGs");
}, 120_000);

afterAll(async () => {
  if (browser !== undefined) await fleet.close();
});

const isPaused = async (dagId: string): Promise<boolean | undefined> =>
  (await fleet.query<{ is_paused: boolean }>("select is_paused from dag where dag_id = $1", [dagId]))[0]?.is_paused;

/** Leaves pictures of the page as it is, light and dark, wide and narrow. */
async function look(name: string): Promise<void> {
  if (PICTURES === undefined) return;
  for (const dark of [false, true]) {
    for (const width of [1280, 420]) {
      await page.show({ width, dark });
      await page.picture(`${PICTURES}/${name}-${dark ? "dark" : "light"}-${width}.png`);
    }
  }
  await page.show({ width: 1280 });
}

describe.skipIf(browser === undefined)("unpausing", () => {
  test.each([
    ["the list of DAGs", LIST],
    ["the page of a DAG", "/dags/pages_daily"],
  ])("from %s is asked for, with the runs that come of it", async (place, address) => {
    await fleet.query("update dag set is_paused = true where dag_id = 'pages_daily'");
    await page.goTo(url + address);
    const isOff = async () => await page.find("switch", /pages_daily/, ({ states }) => states["checked"] === "false");
    await isOff();

    await page.click("switch", /pages_daily/);
    await page.find("dialog", "Unpause pages_daily?");
    expect(await page.waitForText("Unpausing pages_daily now creates 8 runs, 1 of them at once")).toContain(
      "Starts, UTC",
    );
    expect(await page.all("row")).toHaveLength(9);
    await look(`unpause-${address === LIST ? "list" : "dag"}`);
    await page.click("button", "Keep it paused");
    await page.gone("dialog");
    await isOff();
    expect(await isPaused("pages_daily"), place).toBe(true);

    await page.click("switch", /pages_daily/);
    await page.waitForText("Starts, UTC");
    await page.click("button", "Unpause");
    await page.gone("dialog");
    await page.find("switch", /pages_daily/, ({ states }) => states["checked"] === "true");
    await waitUntil(async () => (await isPaused("pages_daily")) === false, { what: "it is unpaused" });
    await page.click("switch", /pages_daily/);
    await waitUntil(async () => (await isPaused("pages_daily")) === true, { what: "pausing asks nothing" });
  });

  test("a DAG that runs by hand only asks nothing", async () => {
    await page.goTo(url + LIST);
    await page.click("switch", /pages_by_hand/);
    await waitUntil(async () => (await isPaused("pages_by_hand")) === false, { what: "it is unpaused" });
    expect(await page.all("dialog")).toEqual([]);
  });

  test("the question is answered from the keyboard, and gives the focus back", async () => {
    await page.goTo(url + LIST);
    await page.click("switch", /pages_daily/);
    await page.find("dialog", "Unpause pages_daily?");
    await page.press("Escape");
    await page.gone("dialog");
    await page.find("switch", /pages_daily/, ({ states }) => states["focused"] === true);
    await page.press(" ");
    await page.find("button", "Keep it paused", ({ states }) => states["focused"] === true);
    await page.press("Enter");
    await page.gone("dialog");
    expect(await isPaused("pages_daily")).toBe(true);
  });
});

describe.skipIf(browser === undefined)("finding one's way", () => {
  test("each page has its title, and the focus follows a link to its beginning", async () => {
    await page.goTo(url + LIST);
    await page.click("link", "pages_daily");
    await page.find("heading", "pages_daily");
    expect(await page.evaluate("[document.title, document.activeElement.id]")).toEqual([
      "pages_daily · Millrace",
      "main",
    ]);
    await page.goTo(`${url}/nowhere`);
    await page.find("heading", "There is no such page");
    await waitUntil(async () => (await page.evaluate("document.title")) === "No such page · Millrace", {
      what: "the title says so",
    });
  });

  test("what is not there, and what was asked wrongly, is said in a sentence", async () => {
    await page.goTo(`${url}/dags/pages_nothing`);
    expect((await page.find("alert")).states).toBeDefined();
    await page.waitForText("There is no DAG pages_nothing");
    await page.goTo(`${url}/dags/pages_daily`);
    await page.click("button", "Trigger a run");
    await page.find("textbox", "Conf, as JSON (may stay empty)", ({ states }) => states["focused"] === true);
    await page.type("{");
    await page.click("button", "Trigger");
    await page.find("alert");
    await page.find("textbox", "Conf, as JSON (may stay empty)", ({ states }) => states["invalid"] === "true");
    await look("trigger");
    await page.press("Escape");
    await page.gone("dialog");
  });
});

test.skipIf(browser === undefined)(
  "a task shows its rendered templates, with secrets masked",
  { timeout: 90_000 },
  async () => {
    await Promise.all([fleet.start(["scheduler"]), fleet.start(["worker"])]);
    await fleet.command(["dags", "trigger", "pages_rendered", "--run-id", "mine", "-c", '{"who":"<b>Ada</b>"}']);
    await fleet.ended("pages_rendered", "mine");
    await page.goTo(`${url}/dags/pages_rendered/runs/mine/tasks/greet`);
    await page.find("heading", "Rendered templates");
    const text = await page.waitForText("echo hello '<b>Ada</b>'\necho ***");
    expect(text).toMatch(/"DAY": "\d{8}"/);
    expect(text).not.toContain("s3cret-of-the-page");
    await look("task");
  },
);

// The last one: what a test starts ends with it.
test.skipIf(browser === undefined)(
  "a server that goes away is told, with what to do, and the page goes on when it is back",
  async () => {
    await page.goTo(url + LIST);
    await page.find("switch", /pages_by_hand/);
    const isOn = (await page.find("switch", /pages_by_hand/)).states["checked"];
    api.kill();
    await api.exited;
    await page.waitForText("No changes arrive: the server cannot be reached.");
    await page.click("switch", /pages_by_hand/);
    await page.waitForText(/pages_by_hand was not (un)?paused: The server cannot be reached\. Is the API running/);
    await page.find("switch", /pages_by_hand/, ({ states }) => states["checked"] === isOn);
    await look("away");
    api = await fleet.start(["api", "--port", new URL(url).port]);
    await waitUntil(async () => !(await page.text()).includes("No changes arrive"), { what: "it is back" });
    await page.find("switch", /pages_by_hand/, ({ states }) => states["checked"] === isOn);
  },
);
