import {
  defaultRangeExtractor,
  observeWindowOffset,
  observeWindowRect,
  Virtualizer,
  windowScroll,
  type Range,
} from '@tanstack/virtual-core';
import { useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';

/** A list up to this length renders all its rows, so that the browser's search finds them. */
const maxPlainRows = 60;
const estimatedHeight = 64;

/** Selects the rows of a long table to render: those in view, and the focused one. */
export function useWindowRows(keys: readonly string[]) {
  const [, render] = useReducer((count: number) => count + 1, 0);
  const body = useRef<HTMLTableSectionElement>(null);
  const focused = useRef<number | undefined>(undefined);
  const [top, setTop] = useState(0);

  const options = {
    count: keys.length,
    getScrollElement: () => window,
    estimateSize: () => estimatedHeight,
    getItemKey: (index: number) => keys[index] ?? index,
    scrollMargin: top,
    overscan: 8,
    rangeExtractor: (range: Range) => indexesOf(range, focused.current),
    observeElementRect: observeWindowRect,
    observeElementOffset: observeWindowOffset,
    scrollToFn: windowScroll,
    onChange: () => render(undefined),
    initialRect: { width: window.innerWidth, height: window.innerHeight },
  };
  const [virtualizer] = useState(() => new Virtualizer<Window, HTMLTableRowElement>(options));
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => {
    virtualizer._willUpdate();
    const found = body.current?.getBoundingClientRect();
    if (found) setTop(Math.round(found.top + window.scrollY));
  });

  const items = virtualizer
    .getVirtualItems()
    .map((item) => ({ ...item, start: item.start - top, end: item.end - top }));
  return {
    /** The element that holds the rows. */
    body,
    /** The rows to render, with their places in the list; `total` is the height of all. */
    items: Object.assign(items, { total: virtualizer.getTotalSize() }),
    /** The `ref` of a row, which also has its index as `data-index`. */
    measure: virtualizer.measureElement,
    onFocusIn: (index: number) => (focused.current = index),
  };
}

function indexesOf(range: Range, focused: number | undefined): number[] {
  if (range.count <= maxPlainRows) return Array.from({ length: range.count }, (_, index) => index);
  const indexes = defaultRangeExtractor(range);
  if (focused === undefined || focused >= range.count || indexes.includes(focused)) return indexes;
  return [...indexes, focused].sort((one, other) => one - other);
}
