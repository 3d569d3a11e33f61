import type { AlignType, Nodes } from 'mdast';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { shownText } from '../../parts/untrusted.tsx';
import { maxMarkdownLength, parseMarkdown, safeUrl } from './markdown-tree.ts';
import { imageAt, type MessageImage } from './images.ts';
import { Button } from '../../parts/button.tsx';

/** Pause between parses of a streamed text: nine times the last parse, so that parsing takes a tenth of the time. */
const parsePause = { perParse: 9, maxMs: 200 };

/** Untrusted Markdown as elements. Raw HTML stays text, images are shown after a click, links lead to web pages. */
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

/** The text, updated with pauses while it is streamed. */
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
    timer.current = setTimeout(show, Math.min(parsePause.perParse * parseMs.current, parsePause.maxMs));
  }, [text, paced, isStreaming]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return isStreaming ? paced : text;
}

/** A text that is too long or too deep to be parsed. */
function PlainText({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false);
  return (
    <div class="playground-markdown">
      <bdi class="untrusted">{shownText(isWhole ? text : text.slice(0, previewLength), Number.MAX_SAFE_INTEGER)}</bdi>
      {text.length > previewLength && (
        <p>
          <Button aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Show less' : `Show all ${text.length.toLocaleString('en')} characters`}
          </Button>
        </p>
      )}
    </div>
  );
}

const previewLength = 5_000;

/** The text without control characters and without a shorter limit than that of the parser. */
const wholeText = (text: string): string => shownText(text, maxMarkdownLength);

function toElements(text: string): ComponentChildren[] | undefined {
  const root = parseMarkdown(text);
  if (!root) return undefined;
  const urls = new Map<string, string>();
  for (const child of root.children) if (child.type === 'definition') urls.set(child.identifier, child.url);
  return root.children.map((node, index) => element(node, index, urls));
}

type DefinitionUrls = ReadonlyMap<string, string>;

function element(node: Nodes, key: number, addresses: DefinitionUrls): ComponentChildren {
  const children = (): ComponentChildren =>
    'children' in node ? node.children.map((child, index) => element(child, index, addresses)) : undefined;
  switch (node.type) {
    case 'text':
      return wholeText(node.value);
    case 'paragraph':
      return <p key={key}>{children()}</p>;
    case 'heading':
      // A heading element would change the outline of the page.
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
      return <code key={key}>{wholeText(node.value)}</code>;
    case 'code':
      return (
        <pre key={key} class="sunken" tabIndex={0}>
          <code>{wholeText(node.value)}</code>
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
      return <sup key={key}>{wholeText(node.label ?? node.identifier)}</sup>;
    case 'footnoteDefinition':
      return (
        <div key={key} class="muted">
          {wholeText(node.label ?? node.identifier)}: {children()}
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
  // The URL is part of the key, so that a click does not also show another image in the same position.
  return found ? (
    <ImageView key={`${key} ${found.url}`} image={found} alt={alt} />
  ) : (
    link(key, url, `Image: ${wholeText(alt)}`)
  );
}

function link(key: number, url: string, content: ComponentChildren): JSX.Element {
  const safe = safeUrl(url);
  if (safe === undefined) return <span key={key}>{content}</span>;
  return (
    <a key={key} href={safe} target="_blank" rel="noopener noreferrer nofollow" title={wholeText(safe)}>
      {content}
    </a>
  );
}

interface ImageViewProps {
  image: MessageImage;
  alt: string;
}

/** An image of a message. Unless it is embedded, it is shown after a click, since its server sees the request. */
export function ImageView({ image: { url, isEmbedded }, alt }: ImageViewProps) {
  const [isShown, setShown] = useState(isEmbedded);
  const [hasFailed, setFailed] = useState(false);
  if (hasFailed) return <span class="muted">This image can’t be shown: {shownText(url, 100)}</span>;
  if (isShown) {
    return (
      <img
        class="playground-image"
        src={url}
        alt={shownText(alt, 200)}
        referrerpolicy="no-referrer"
        onError={() => setFailed(true)}
      />
    );
  }
  return (
    <Button title={shownText(url)} onClick={() => setShown(true)}>
      Show the image of {shownText(new URL(url).host, 80)}
    </Button>
  );
}
