import type { Ref, RefObject } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useReducer, useState } from 'preact/hooks';
import { type LogLines, type LogView, maxShownLength, toPieces } from './log-lines.ts';
import { type LogKind, logPagePath } from './use-log.ts';
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core';
import { shownText } from '../../parts/untrusted.tsx';
import { clockTime, type LogLine } from './log-line.ts';

interface LogListProps {
  label: string;
  kind: LogKind;
  lines: LogLines;
  view: LogView;
  query: string;
  /** The number of the selected line. */
  selected: number | undefined;
  /** A line to scroll to, whenever the object changes. */
  target: { number: number } | undefined;
  isFollowing: boolean;
  isWrapped: boolean;
  showTimes: boolean;
  onFollow: (isFollowing: boolean) => void;
  onSelect: (number: number | undefined) => void;
  listRef: Ref<HTMLDivElement>;
}

/** The lines of a log. Only those in view are rendered. */
export function LogList(props: LogListProps) {
  const { label, kind, lines, view, query, selected, target, isFollowing, isWrapped, showTimes, onFollow, onSelect } =
    props;
  const scroller = useRef<HTMLDivElement>(null);
  const lastTop = useRef(0);
  const lastDropped = useRef(lines.dropped);
  // A new function makes the virtualizer position all rows again.
  const keyOf = useCallback((index: number) => view.shown[index] ?? `after ${index}`, [view, lines.dropped]);
  const rows = useScrollerRows(scroller, view.shown.length, keyOf);
  const space = useRef<HTMLDivElement>(null);
  const slots = useRef(0);

  // Measured heights are invalid after the wrapping changed.
  useEffect(() => rows.measure(), [rows, isWrapped]);

  // Measure all rows at once, because a change in between would cause another layout.
  const measureRows = (): void => {
    for (const row of isWrapped ? (space.current?.children ?? []) : []) {
      if (row instanceof HTMLElement) rows.resizeItem(Number(row.dataset['index']), row.offsetHeight);
    }
  };
  useLayoutEffect(measureRows);
  // Lines need more space in a narrower window or with a larger font.
  useEffect(() => {
    if (!space.current || !isWrapped) return;
    const observer = new ResizeObserver(measureRows);
    observer.observe(space.current);
    return () => observer.disconnect();
  }, [rows, isWrapped]);

  useLayoutEffect(() => {
    if (target) rows.scrollToIndex(view.indexOf(target.number), { align: 'center' });
  }, [rows, target]);

  // Adjust the scroll position after each rendering, because lines may have arrived or rows been measured.
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const dropped = lines.dropped - lastDropped.current;
    lastDropped.current = lines.dropped;
    if (isFollowing) element.scrollTop = element.scrollHeight;
    else if (dropped > 0) element.scrollTop -= dropped * rowHeight;
    lastTop.current = element.scrollTop;
  });

  const onScroll = (): void => {
    const element = scroller.current;
    if (!element) return;
    const { scrollTop, scrollHeight, clientHeight } = element;
    const isAtEnd = scrollHeight - scrollTop - clientHeight < rowHeight / 2;
    if (isAtEnd !== isFollowing && (isAtEnd || scrollTop < lastTop.current)) onFollow(isAtEnd);
    lastTop.current = scrollTop;
  };

  const select = (step: number): void => {
    const first = rows.getVirtualItemForOffset(scroller.current?.scrollTop ?? 0)?.index ?? 0;
    const index = selected === undefined ? first : view.indexOf(selected) + step;
    const number = view.shown[Math.min(Math.max(index, 0), view.shown.length - 1)];
    if (number === undefined) return;
    onFollow(false);
    onSelect(number);
    rows.scrollToIndex(view.indexOf(number), { align: 'auto' });
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Enter') select(0);
    else if (event.key === 'Escape') onSelect(undefined);
    else if (selected !== undefined && event.key === 'ArrowDown') select(1);
    else if (selected !== undefined && event.key === 'ArrowUp') select(-1);
    else return;
    event.preventDefault();
  };

  const onClick = (event: MouseEvent): void => {
    const link = event.target instanceof Element ? event.target.closest('a.log-number') : null;
    const number = Number(link?.closest<HTMLElement>('[data-number]')?.dataset['number']);
    if (!link || Number.isNaN(number) || event.ctrlKey || event.metaKey || event.shiftKey) return;
    // Change the URL without leaving the page.
    event.preventDefault();
    event.stopPropagation();
    onFollow(false);
    onSelect(number);
  };

  const items = rows.getVirtualItems();
  // Reuse the element of a row that leaves the view for one that enters it.
  slots.current = Math.max(slots.current, items.length);
  const setElement = (element: HTMLDivElement | null): void => {
    scroller.current = element;
    if (typeof props.listRef === 'object' && props.listRef) props.listRef.current = element;
  };
  return (
    <div
      ref={setElement}
      class={`log-list ${isWrapped ? 'log-wrapped' : ''}`}
      role="log"
      aria-live="off"
      aria-label={label}
      tabIndex={0}
      onScroll={onScroll}
      onKeyDown={onKeyDown}
      onClick={onClick}
    >
      <div class="log-space" style={{ height: `${rows.getTotalSize()}px` }}>
        <div class="log-rows" ref={space} style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
          {items.map(({ index }) => {
            const number = view.shown[index];
            const line = number === undefined ? undefined : lines.line(number);
            return (
              line &&
              number !== undefined && (
                <div
                  key={index % slots.current}
                  class={number === selected ? 'log-row log-row-selected' : 'log-row'}
                  data-index={index}
                  data-number={number}
                >
                  <LogRow
                    kind={kind}
                    line={line}
                    number={number}
                    query={query}
                    isSelected={number === selected}
                    showTimes={showTimes}
                  />
                </div>
              )
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** The height of a row that is not wrapped, as in the style sheet. */
const rowHeight = 20;

const tones = { debug: 'idle', info: 'idle', warning: 'warn', error: 'bad' } as const;

/** The tones that replace the colours of terminals. Each is readable in each theme. */
const tonesOfHues: ReadonlyMap<string, string> = new Map([
  ['red', 'bad'],
  ['green', 'good'],
  ['yellow', 'warn'],
  ['blue', 'busy'],
  ['cyan', 'accent'],
  ['magenta', 'magenta'],
  ['black', 'line'],
  ['white', 'line'],
]);

function classOf(style: string): string {
  if (style === 'dim' || style === 'field') return 'muted';
  const tone = tonesOfHues.get(style.replace('on-', ''));
  if (tone === undefined) return `log-style-${style}`;
  return `${style.startsWith('on-') ? 'log-on-colour' : 'log-colour'} tone-${tone}`;
}

/** The minimum height of a row: no measured height is smaller, so the followed end of the log never moves up. */
const minHeight = (): number => rowHeight;

type Rows = Virtualizer<HTMLElement, HTMLElement>;

/**
 * Renders only the rows that are in view. `keyOf` names a row by what it shows, so that its measured height follows it.
 */
function useScrollerRows(
  scroller: RefObject<HTMLElement | null>,
  count: number,
  keyOf: (index: number) => number | string,
): Rows {
  const [, redraw] = useReducer((former: number) => former + 1, 0);
  const options: VirtualizerOptions<HTMLElement, HTMLElement> = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: minHeight,
    getItemKey: keyOf,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    overscan: 12,
    onChange: () => redraw(undefined),
  };
  const [rows] = useState(() => new Virtualizer(options));
  rows.setOptions(options);
  useLayoutEffect(() => rows._didMount(), [rows]);
  useLayoutEffect(() => rows._willUpdate());
  return rows;
}

interface LogRowProps {
  kind: LogKind;
  line: LogLine;
  /** From 0. */
  number: number;
  query: string;
  isSelected: boolean;
  showTimes: boolean;
}

/** A line of a log: a link to it, its time and level, and its text in its colours. */
function LogRow({ kind, line, number, query, isSelected, showTimes }: LogRowProps) {
  // Render only the changed rows again.
  return useMemo(
    () => (
      <>
        <a
          class="log-number"
          // Not reachable by the Tab key, since Enter in the log selects lines.
          tabIndex={-1}
          href={logPagePath(kind, line.id)}
          aria-label={`Line ${number + 1}`}
          aria-current={isSelected ? 'true' : undefined}
        >
          {number + 1}
        </a>
        {showTimes && <span class="log-time">{clockTime(line.at)}</span>}
        <span class={`log-level tone-${tones[line.level]}`}>{line.level === 'info' ? '' : line.level}</span>
        <bdi class="log-text">
          {toPieces(line, query).map(({ text: part, styles, isMatch }) => {
            const shown = shownText(part, maxShownLength);
            const className = styles.map(classOf).join(' ');
            return isMatch ? (
              <mark class={`log-match ${className}`}>{shown}</mark>
            ) : className === '' ? (
              shown
            ) : (
              <span class={className}>{shown}</span>
            );
          })}
          {line.text.length > maxShownLength && (
            <span class="muted"> … {(line.text.length - maxShownLength).toLocaleString('en')} more characters</span>
          )}
        </bdi>
      </>
    ),
    [line, number, query, isSelected, showTimes],
  );
}
