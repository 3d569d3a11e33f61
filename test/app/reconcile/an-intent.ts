import { newIntent, type Intent } from '../../../app/reconcile/intent.ts';
import { start, requestOf } from './requests.ts';

let made = 0;

/** An intent of a commit in some state, by which it is called too. */
export function anIntent(commit: string, more: Partial<Intent> & { kind?: Intent['cause']['kind'] } = {}): Intent {
  const { kind, ...rest } = more;
  made += 1;
  const request = requestOf(commit, { ...(kind ? { kind } : {}), key: `cause-${made}` });
  return { ...newIntent(request, { id: rest.state ?? 'requested', seq: made, now: start }), ...rest };
}
