// A page as a person has it: what is on it is found by its role and its name, as a screen reader tells them, and is used with
// the mouse and the keyboard. What is not there yet is waited for.
import { writeFile } from "node:fs/promises";
import { waitUntil } from "../wait-until.ts";
import type { Answer, DevtoolsPipe } from "./devtools-pipe.ts";

const KEYS: Readonly<Record<string, { readonly code: number; readonly text?: string }>> = {
  Enter: { code: 13, text: "\r" },
  Escape: { code: 27 },
  Tab: { code: 9 },
  " ": { code: 32, text: " " },
  ArrowDown: { code: 40 },
  ArrowLeft: { code: 37 },
  ArrowRight: { code: 39 },
  ArrowUp: { code: 38 },
};

/** Something on a page: `role` and `name` as assistive technology has them, `states` such as `checked` and `focused`. */
export interface PageNode {
  readonly role: string;
  readonly name: string;
  readonly states: Readonly<Record<string, unknown>>;
  readonly backendNodeId: number;
}

export interface View {
  readonly width: number;
  readonly height?: number;
  readonly dark?: boolean;
}

export class BrowserPage {
  readonly #pipe: DevtoolsPipe;
  readonly #session: string;

  private constructor(pipe: DevtoolsPipe, session: string) {
    this.#pipe = pipe;
    this.#session = session;
  }

  static async open(pipe: DevtoolsPipe, url: string): Promise<BrowserPage> {
    const { browserContextId } = await pipe.send("Target.createBrowserContext");
    const { targetId } = await pipe.send("Target.createTarget", { url: "about:blank", browserContextId });
    const { sessionId } = await pipe.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new BrowserPage(pipe, String(sessionId));
    await page.#send("Page.enable");
    await page.#send("Accessibility.enable");
    // Without it nothing of a page that is not looked at has the focus.
    await page.#send("Emulation.setFocusEmulationEnabled", { enabled: true });
    await page.show({ width: 1280 });
    await page.goTo(url);
    return page;
  }

  async goTo(url: string): Promise<void> {
    const { errorText } = await this.#send("Page.navigate", { url });
    if (errorText !== undefined) throw new Error(`${url} did not open: ${String(errorText)}`);
  }

  async show({ width, height = 900, dark = false }: View): Promise<void> {
    await this.#send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
    const features = [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }];
    await this.#send("Emulation.setEmulatedMedia", { features });
  }

  /** All that has the role, and the name. */
  async all(role: string, name?: string | RegExp): Promise<readonly PageNode[]> {
    const root = await this.#send("Runtime.evaluate", { expression: "document" });
    const { objectId } = root["result"] as { objectId: string }; // an object of the page
    const exact = typeof name === "string" ? { accessibleName: name } : {};
    const { nodes } = await this.#send("Accessibility.queryAXTree", { objectId, role, ...exact });
    return (nodes as readonly AxNode[]) // as the protocol says
      .filter((node) => !node.ignored)
      .map(nodeOf)
      .filter((node) => !(name instanceof RegExp) || name.test(node.name));
  }

  /** The one thing of this role and name, as soon as it is there. */
  async find(
    role: string,
    name?: string | RegExp,
    isAsWanted: (node: PageNode) => boolean = () => true,
  ): Promise<PageNode> {
    return await waitUntil(
      async () => {
        const found = await this.all(role, name);
        if (found.length > 1) throw new Error(`there are ${found.length}`);
        return found.find(isAsWanted);
      },
      { what: `the page has the ${role} ${String(name ?? "")}` },
    );
  }

  async gone(role: string, name?: string | RegExp): Promise<void> {
    await waitUntil(async () => (await this.all(role, name)).length === 0, {
      what: `the page has no ${role} ${String(name ?? "")} any more`,
    });
  }

  async click(role: string, name?: string | RegExp): Promise<void> {
    const { backendNodeId } = await this.find(role, name);
    const mouse = { ...(await this.#whenItRests(backendNodeId)), button: "left", clickCount: 1 };
    for (const type of ["mouseMoved", "mousePressed", "mouseReleased"]) {
      await this.#send("Input.dispatchMouseEvent", { ...mouse, type });
    }
  }

  /** Its middle, as soon as nothing on the page moves it any more. */
  async #whenItRests(backendNodeId: number): Promise<{ x: number; y: number }> {
    await this.#send("DOM.scrollIntoViewIfNeeded", { backendNodeId });
    let before = "";
    return await waitUntil(
      async () => {
        const { quads } = await this.#send("DOM.getContentQuads", { backendNodeId });
        const [quad = []] = quads as readonly (readonly number[])[]; // four corners, x and y
        const mean = (from: 0 | 1): number => quad.filter((_, i) => i % 2 === from).reduce((a, b) => a + b, 0) / 4;
        const [last, now] = [before, quad.join()];
        before = now;
        return last === now ? { x: mean(0), y: mean(1) } : undefined;
      },
      { what: "it rests where it is", intervalMs: 100 },
    );
  }

  async press(key: string, modifiers: { readonly shift?: boolean } = {}): Promise<void> {
    const { code, text } = KEYS[key] ?? { code: 0, text: key };
    const event = { key, windowsVirtualKeyCode: code, modifiers: modifiers.shift === true ? 8 : 0 };
    await this.#send("Input.dispatchKeyEvent", { type: "keyDown", ...event, ...(text === undefined ? {} : { text }) });
    await this.#send("Input.dispatchKeyEvent", { type: "keyUp", ...event });
  }

  async type(text: string): Promise<void> {
    await this.#send("Input.insertText", { text });
  }

  /** What a person can read on it. */
  async text(): Promise<string> {
    return String(await this.evaluate("document.body.innerText"));
  }

  async waitForText(wanted: string | RegExp): Promise<string> {
    return await waitUntil(
      async () => {
        const text = await this.text();
        if (typeof wanted === "string" ? text.includes(wanted) : wanted.test(text)) return text;
        throw new Error(text);
      },
      { what: `the page says ${String(wanted)}` },
    );
  }

  /** The value of an expression of JavaScript on the page. */
  async evaluate(expression: string): Promise<unknown> {
    const answer = await this.#send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
    if (answer["exceptionDetails"] !== undefined) throw new Error(JSON.stringify(answer["exceptionDetails"]));
    return (answer["result"] as { value?: unknown }).value; // as the protocol says
  }

  /** A PNG of what is seen of it. */
  async picture(path: string): Promise<void> {
    const { data } = await this.#send("Page.captureScreenshot", { format: "png" });
    await writeFile(path, Buffer.from(String(data), "base64"));
  }

  async #send(method: string, params: Answer = {}): Promise<Answer> {
    return await this.#pipe.send(method, params, this.#session);
  }
}

interface AxNode {
  readonly ignored: boolean;
  readonly role?: { readonly value: string };
  readonly name?: { readonly value: string };
  readonly properties?: readonly { readonly name: string; readonly value: { readonly value?: unknown } }[];
  readonly backendDOMNodeId: number;
}

const nodeOf = ({ role, name, properties = [], backendDOMNodeId }: AxNode): PageNode => ({
  role: role?.value ?? "",
  name: name?.value ?? "",
  states: Object.fromEntries(properties.map((property) => [property.name, property.value.value])),
  backendNodeId: backendDOMNodeId,
});
