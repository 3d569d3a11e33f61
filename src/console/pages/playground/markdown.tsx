import type { AlignType, Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import type { ComponentChildren, JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { shownText } from '../../parts/untrusted.tsx';
import { safeAddress } from './safe-address.ts';

/** Longer texts are shown as they are: a tree of them would slow the page down. */
const longestMarkdown = 50_000;

/** Markdown that others wrote, as elements: raw HTML stays text, images are links, and links lead only to web pages. */
export function Markdown({ text }: { text: string }) {
  const tree = useMemo(() => (text.length > longestMarkdown ? undefined : parse(text)), [text]);
  if (!tree) return <LongText text={text} />;
  return (
    <div class="playground-markdown" dir="auto">
      {tree}
    </div>
  );
}

function LongText({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false);
  return (
    <div class="playground-markdown">
      <bdi class="untrusted">{shownText(isWhole ? text : text.slice(0, 5_000), Number.MAX_SAFE_INTEGER)}</bdi>
      <p>
        <button type="button" class="button" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Show less' : `Show all ${text.length.toLocaleString('en')} characters`}
        </button>
      </p>
    </div>
  );
}

/** The whole text: it is bounded by the one who calls. */
const shown = (text: string): string => shownText(text, longestMarkdown);

function parse(text: string): ComponentChildren {
  const root = fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
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
        <pre key={key} tabIndex={0}>
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
          {typeof node.checked === 'boolean' && (node.checked ? '☑ ' : '☐ ')}
          {children()}
        </li>
      );
    case 'link':
      return link(key, node.url, children());
    case 'linkReference':
      return link(key, addresses.get(node.identifier) ?? '', children());
    case 'image':
      return link(key, node.url, `Image: ${shown(node.alt || node.url)}`);
    case 'imageReference':
      return link(key, addresses.get(node.identifier) ?? '', `Image: ${shown(node.alt || node.identifier)}`);
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

function link(key: number, url: string, content: ComponentChildren): JSX.Element {
  const address = safeAddress(url);
  if (address === undefined) return <span key={key}>{content}</span>;
  return (
    <a key={key} href={address} target="_blank" rel="noopener noreferrer nofollow" title={shown(address)}>
      {content}
    </a>
  );
}
