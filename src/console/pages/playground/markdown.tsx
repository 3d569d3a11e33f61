import type { AlignType, Nodes } from 'mdast';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { shownText } from '../../parts/untrusted.tsx';
import { longestMarkdown, parseMarkdown, safeAddress } from './markdown-tree.ts';
import { imageAt, type MessageImage } from './images.ts';
import { Button } from '../../parts/button.tsx';

/** At most a tenth of the time is spent on parsing a text that is being written, and it is never older than this (ms). */
const pauses = { perParse: 9, longestMs: 200 };

/** Markdown that others wrote, as elements: raw HTML stays text, images are shown after a click, and links lead only to web pages. */
export function Markdown({ text, isStreaming }: { text: string; isStreaming: boolean }) {
  const parseMs = useRef(0);
  const paced = usePaced(text, isStreaming, parseMs);
  const tree = useMemo(() => {
    const startedAt = performance.now();
    const elements = toElements(paced);
    parseMs.current = performance.now() - startedAt;
    return elements;
  }, [paced]);
  if (!tree) return <PlainText text={paced} />;
  return (
    <div class="playground-markdown" dir="auto">
      {tree}
    </div>
  );
}

/** The text as it was some moments ago while it is being written, then as it is. */
function usePaced(text: string, isStreaming: boolean, parseMs: { readonly current: number }): string {
  const [paced, setPaced] = useState(text);
  const latest = useRef(text);
  latest.current = text;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useLayoutEffect(() => {
    if (!isStreaming || timer.current !== undefined || text === paced) return;
    const show = (): void => {
      timer.current = undefined;
      setPaced(latest.current);
    };
    timer.current = setTimeout(show, Math.min(pauses.perParse * parseMs.current, pauses.longestMs));
  }, [text, paced, isStreaming]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return isStreaming ? paced : text;
}

/** What is too long or too deep for a tree. */
function PlainText({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false);
  return (
    <div class="playground-markdown">
      <bdi class="untrusted">{shownText(isWhole ? text : text.slice(0, firstCharacters), Number.MAX_SAFE_INTEGER)}</bdi>
      {text.length > firstCharacters && (
        <p>
          <Button aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Show less' : `Show all ${text.length.toLocaleString('en')} characters`}
          </Button>
        </p>
      )}
    </div>
  );
}

const firstCharacters = 5_000;

/** The whole text: it is bounded by the one who calls. */
const shown = (text: string): string => shownText(text, longestMarkdown);

function toElements(text: string): ComponentChildren[] | undefined {
  const root = parseMarkdown(text);
  if (!root) return undefined;
  const addresses = new Map<string, string>();
  for (const child of root.children) if (child.type === 'definition') addresses.set(child.identifier, child.url);
  return root.children.map((node, index) => element(node, index, addresses));
}

type Addresses = ReadonlyMap<string, string>;

function element(node: Nodes, key: number, addresses: Addresses): ComponentChildren {
  const children = (): ComponentChildren =>
    'children' in node ? node.children.map((child, index) => element(child, index, addresses)) : undefined;
  switch (node.type) {
    case 'text':
      return shown(node.value);
    case 'paragraph':
      return <p key={key}>{children()}</p>;
    case 'heading':
      // No heading of the page: its outline is not the agent's to change.
      return (
        <p key={key} class={`playground-heading playground-heading-${node.depth}`}>
          {children()}
        </p>
      );
    case 'emphasis':
      return <em key={key}>{children()}</em>;
    case 'strong':
      return <strong key={key}>{children()}</strong>;
    case 'delete':
      return <del key={key}>{children()}</del>;
    case 'inlineCode':
    case 'html':
      return <code key={key}>{shown(node.value)}</code>;
    case 'code':
      return (
        <pre key={key} class="sunken" tabIndex={0}>
          <code>{shown(node.value)}</code>
        </pre>
      );
    case 'break':
      return <br key={key} />;
    case 'thematicBreak':
      return <hr key={key} />;
    case 'blockquote':
      return <blockquote key={key}>{children()}</blockquote>;
    case 'list':
      return node.ordered ? (
        <ol key={key} start={node.start ?? 1}>
          {children()}
        </ol>
      ) : (
        <ul key={key}>{children()}</ul>
      );
    case 'listItem':
      return (
        <li key={key}>
          {typeof node.checked === 'boolean' && (
            <input type="checkbox" checked={node.checked} disabled aria-label={node.checked ? 'Done' : 'Not done'} />
          )}
          {children()}
        </li>
      );
    case 'link':
      return link(key, node.url, children());
    case 'linkReference':
      return link(key, addresses.get(node.identifier) ?? '', children());
    case 'image':
      return image(key, node.url, node.alt || node.url);
    case 'imageReference':
      return image(key, addresses.get(node.identifier) ?? '', node.alt || node.identifier);
    case 'table':
      return (
        <div key={key} class="table-frame" role="region" aria-label="Table" tabIndex={0}>
          <table>
            {node.children.map((row, rowIndex) => (
              <tr key={rowIndex}>
                {row.children.map((cell, index) => {
                  const content = cell.children.map((child, at) => element(child, at, addresses));
                  return tableCell(rowIndex === 0, index, node.align?.[index], content);
                })}
              </tr>
            ))}
          </table>
        </div>
      );
    case 'footnoteReference':
      return <sup key={key}>{shown(node.label ?? node.identifier)}</sup>;
    case 'footnoteDefinition':
      return (
        <div key={key} class="muted">
          {shown(node.label ?? node.identifier)}: {children()}
        </div>
      );
    default:
      return undefined;
  }
}

function tableCell(
  isHead: boolean,
  key: number,
  align: AlignType | undefined,
  content: ComponentChildren,
): JSX.Element {
  const style = align ? { textAlign: align } : {};
  return isHead ? (
    <th key={key} scope="col" style={style}>
      {content}
    </th>
  ) : (
    <td key={key} style={style}>
      {content}
    </td>
  );
}

function image(key: number, url: string, alt: string): JSX.Element {
  const found = imageAt(url);
  // By its address: a click is for one image, not for another one that takes its place.
  return found ? (
    <ImageView key={`${key} ${found.address}`} image={found} alt={alt} />
  ) : (
    link(key, url, `Image: ${shown(alt)}`)
  );
}

function link(key: number, url: string, content: ComponentChildren): JSX.Element {
  const address = safeAddress(url);
  if (address === undefined) return <span key={key}>{content}</span>;
  return (
    <a key={key} href={address} target="_blank" rel="noopener noreferrer nofollow" title={shown(address)}>
      {content}
    </a>
  );
}

interface ImageViewProps {
  image: MessageImage;
  alt: string;
}

/** An image of a message: at once where it is embedded, else after a click, since its server learns who looks at it. */
export function ImageView({ image: { address, isEmbedded }, alt }: ImageViewProps) {
  const [isWanted, setWanted] = useState(isEmbedded);
  const [hasFailed, setFailed] = useState(false);
  if (hasFailed) return <span class="muted">This image can’t be shown: {shownText(address, 100)}</span>;
  if (isWanted) {
    return (
      <img
        class="playground-image"
        src={address}
        alt={shownText(alt, 200)}
        referrerpolicy="no-referrer"
        onError={() => setFailed(true)}
      />
    );
  }
  return (
    <Button title={shownText(address)} onClick={() => setWanted(true)}>
      Show the image of {shownText(new URL(address).host, 80)}
    </Button>
  );
}
