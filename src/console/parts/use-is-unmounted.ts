import { useEffect, useRef } from 'preact/hooks';

/** Whether the component is unmounted, so that it can no longer show the result of a request. */
export function useIsUnmounted(): () => boolean {
  const isUnmounted = useRef(false);
  useEffect(
    () => () => {
      isUnmounted.current = true;
    },
    [],
  );
  return () => isUnmounted.current;
}
