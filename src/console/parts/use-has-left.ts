import { useEffect, useRef } from 'preact/hooks';

/** Tells whether the component has left the page: what ends after that has no place there to report to. */
export function useHasLeft(): () => boolean {
  const left = useRef(false);
  useEffect(
    () => () => {
      left.current = true;
    },
    [],
  );
  return () => left.current;
}
