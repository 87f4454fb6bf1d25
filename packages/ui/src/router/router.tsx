// The address is the state of a page: what to show stands in the path, how in the query.
import {
  createContext,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useState,
  type ComponentProps,
  type MouseEvent,
  type ReactNode,
} from "react";

export interface Address {
  readonly path: string;
  readonly query: URLSearchParams;
}

interface Router {
  readonly address: Address;
  readonly go: (to: string, how?: "push" | "replace") => void;
}

const addressOf = (href: string): Address => {
  const url = new URL(href, "http://here");
  return { path: url.pathname, query: url.searchParams };
};

const RouterContext = createContext<Router>({ address: addressOf("/"), go: () => undefined });

/** A page on its own, for tests: at a fixed address. */
export function StaticRouter({ at, children }: { readonly at: string; readonly children: ReactNode }): ReactNode {
  const router = useMemo(() => ({ address: addressOf(at), go: () => undefined }), [at]);
  return <RouterContext value={router}>{children}</RouterContext>;
}

export function RouterProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [address, setAddress] = useState(() => addressOf(window.location.href));
  useEffect(() => {
    const follow = (): void => setAddress(addressOf(window.location.href));
    window.addEventListener("popstate", follow);
    return () => window.removeEventListener("popstate", follow);
  }, []);
  const go = useCallback((to: string, how: "push" | "replace" = "push") => {
    const before = window.location.pathname;
    if (how === "push") window.history.pushState(null, "", to);
    else window.history.replaceState(null, "", to);
    if (window.location.pathname !== before) window.scrollTo(0, 0);
    setAddress(addressOf(window.location.href));
  }, []);
  const router = useMemo(() => ({ address, go }), [address, go]);
  return <RouterContext value={router}>{children}</RouterContext>;
}

export const useAddress = (): Address => useContext(RouterContext).address;
export const useGo = (): Router["go"] => useContext(RouterContext).go;

/** One value of the query; setting it to "" takes it out. Filters replace the address, so that Back leaves the page. */
export function useQuery(name: string): readonly [string, (value: string) => void] {
  const { address, go } = useContext(RouterContext);
  const set = useCallback(
    (value: string) => {
      const query = new URLSearchParams(address.query);
      if (value === "") query.delete(name);
      else query.set(name, value);
      if (name !== "offset") query.delete("offset");
      const text = query.toString();
      go(text === "" ? address.path : `${address.path}?${text}`, "replace");
    },
    [address, go, name],
  );
  return [address.query.get(name) ?? "", set];
}

/** A link that changes the page without loading it anew, unless it is opened elsewhere. */
export function Link({ to, ...rest }: Omit<ComponentProps<"a">, "href"> & { readonly to: string }): ReactNode {
  const go = useGo();
  const follow = (event: MouseEvent<HTMLAnchorElement>): void => {
    rest.onClick?.(event);
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    go(to);
  };
  return <a {...rest} href={to} onClick={follow} />;
}
