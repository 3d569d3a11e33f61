import type { Intent } from '../../../app/work/intent.ts';
import { newIntent } from '../../../app/work/new-intent.ts';
import { start, wishOf } from './wishes.ts';

let made = 0;

/** An intent of a commit in some state, by which it is called too. */
export function anIntent(commit: string, more: Partial<Intent> & { kind?: Intent['cause']['kind'] } = {}): Intent {
  const { kind, ...rest } = more;
  made += 1;
  const wish = wishOf(commit, { ...(kind ? { kind } : {}), key: `cause-${made}` });
  return { ...newIntent(wish, { id: rest.state ?? 'wished', seq: made, now: start }), ...rest };
}
