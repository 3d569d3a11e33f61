import { createContext, runInContext } from 'node:vm';
import * as z from 'zod';

const rendered = z.object({ type: z.string(), props: z.record(z.string(), z.unknown()) });

/**
 * Does in a stand-in of a page what `LoadExternalComponent` of the official client does in a browser: inserts the tags,
 * loads their files, and renders the component with the page's own React.
 */
export async function renderInPage(html: string, props: object): Promise<{ element: object; files: string[] }> {
  const tags = html
    .replace('{{shadowRootId}}', 'shadow-1')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
  const files = [...tags.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = '']) => address);
  const onload = /onload='(.*)'><\/script>/.exec(tags)?.[1] ?? '';
  const jsx = (type: unknown, given: object) => ({ type, props: given });
  const modules: Record<string, object> = { 'react/jsx-runtime': { jsx, jsxs: jsx }, shared: { greeting: 'Hello' } };
  const respond = (id: string, component: (given: object) => object) => ({ id, element: component(props) });
  let responded: unknown;
  const page = createContext({
    [Symbol.for('LGUI_REQUIRE')]: (name: string) => modules[name],
    window: {
      [Symbol.for('LGUI_EXT_STORE')]: {
        respond: (id: string, component: (given: object) => object) => (responded = respond(id, component)),
      },
    },
    document: {
      createElement: () => ({}),
      getElementById: (id: string) => (id === 'shadow-1' ? { shadowRoot: { appendChild: () => undefined } } : null),
    },
  });
  for (const address of files) {
    const response = await fetch(address);
    if (!response.ok) throw new Error(`${address}: ${response.status} ${await response.text()}`);
    const text = await response.text();
    if (new URL(address).pathname.endsWith('.js')) runInContext(text, page);
  }
  runInContext(onload, page);
  return { element: z.object({ id: z.literal('shadow-1'), element: rendered }).parse(responded).element, files };
}
