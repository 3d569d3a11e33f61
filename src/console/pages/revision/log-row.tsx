import { Component } from 'preact';
import { shownText } from '../../parts/untrusted.tsx';
import { longestShown, toPieces } from './line-pieces.ts';
import { logAddress, type LogKind } from './use-log.ts';
import { clockTime, type LogLine } from './log-line.ts';

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
export class LogRow extends Component<LogRowProps> {
  override shouldComponentUpdate(next: LogRowProps): boolean {
    const { line, number, query, isSelected, showTimes } = this.props;
    return (
      next.line !== line ||
      next.number !== number ||
      next.query !== query ||
      next.isSelected !== isSelected ||
      next.showTimes !== showTimes
    );
  }

  override render({ kind, line, number, query, isSelected, showTimes }: LogRowProps) {
    const { id, at, level, text } = line;
    return (
      <>
        <a
          class="log-number"
          // Not in the order of the Tab key: Enter in the log selects lines.
          tabIndex={-1}
          href={logAddress(kind, id)}
          aria-label={`Line ${number + 1}`}
          aria-current={isSelected ? 'true' : undefined}
        >
          {number + 1}
        </a>
        {showTimes && <span class="log-time">{clockTime(at)}</span>}
        <span class={`log-level log-level-${level}`}>{level === 'info' ? '' : level}</span>
        <bdi class="log-text">
          {toPieces(line, query).map(({ text: part, styles, isMatch }) => {
            const shown = shownText(part, longestShown);
            const className = styles.map((style) => `log-style-${style}`).join(' ');
            return isMatch ? (
              <mark class={`log-match ${className}`}>{shown}</mark>
            ) : className === '' ? (
              shown
            ) : (
              <span class={className}>{shown}</span>
            );
          })}
          {text.length > longestShown && (
            <span class="log-more"> … {(text.length - longestShown).toLocaleString('en')} more characters</span>
          )}
        </bdi>
      </>
    );
  }
}
