import { logPage } from '../../../contract/control/log.ts';
import { call } from '../../api/http.ts';
import { copyText } from '../../parts/copy-button.tsx';
import { pageSize } from './follow-log.ts';
import { toLogLine, type LogLine } from './log-line.ts';
import type { LogLines } from './log-lines.ts';
import { logPath, type LogSource } from './use-log.ts';

const textOf = ({ at, level, raw }: LogLine): string =>
  `${Number.isNaN(at) ? '' : `${new Date(at).toISOString()} `}${level.padEnd(7)} ${raw}\n`;

/** Saves all lines that the service keeps as a text file. @throws ApiError */
export async function downloadLog(source: LogSource): Promise<void> {
  const parts: string[] = [];
  let offset: string | undefined;
  for (;;) {
    const { logs, next_offset: next } = await call('GET', logPath(source), logPage, {
      query: { kind: source.kind, order: 'asc', limit: pageSize, offset },
    });
    parts.push(
      logs
        .map((entry) => toLogLine(entry))
        .flatMap((line) => (line ? textOf(line) : []))
        .join(''),
    );
    if (logs.length < pageSize || typeof next !== 'string') break;
    offset = next;
  }
  const url = URL.createObjectURL(new Blob(parts, { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${source.kind === 'build' ? 'build' : 'agent'}-${source.revisionId.slice(0, 8)}.log`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Copies the lines that are shown. */
export function copyLines(numbers: readonly number[], lines: LogLines): void {
  const text = numbers
    .flatMap((number) => lines.line(number) ?? [])
    .map((line) => textOf(line))
    .join('');
  void copyText(text, `Copied ${numbers.length.toLocaleString('en')} lines.`);
}
