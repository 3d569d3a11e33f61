import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useLayoutEffect, useReducer, useState } from 'preact/hooks';

/** The height of a row that is not wrapped, as in the style sheet. */
export const rowHeight = 20;

/** The least height of a row: then a measured one is never smaller, and the end that is followed never moves up. */
const leastHeight = (): number => rowHeight;

type Rows = Virtualizer<HTMLElement, HTMLElement>;

/** Renders only the rows that are in view. `keyOf` names a row by what it shows, so that its measured height follows it. */
export function useScrollerRows(
  scroller: RefObject<HTMLElement | null>,
  count: number,
  keyOf: (index: number) => number | string,
): Rows {
  const [, redraw] = useReducer((former: number) => former + 1, 0);
  const options: VirtualizerOptions<HTMLElement, HTMLElement> = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: leastHeight,
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
