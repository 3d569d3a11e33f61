/** What the reference of a container image stands for now. A tag can move; a digest cannot. */
export type ImageLookup =
  /** The same image by its digest. */
  | { kind: 'pinned'; uri: string }
  /** `why` is one clause. */
  | { kind: 'unknown'; why: string };

/** Whether a reference names its content: an image of this digest and no other. */
export const isPinned = (uri: string): boolean => /@[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[0-9a-f]{32,}$/i.test(uri);
