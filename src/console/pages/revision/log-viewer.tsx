import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useAction } from '../../api/use-form.ts';
import { copyLines, downloadLog, logPagePath, useLog, type LogSource, type LogKind } from './use-log.ts';
import { logLevels, type LogLevel, type LogLine } from './log-line.ts';
import { LogList } from './log-list.tsx';
import { LogView, maxKeptLines, type LogLines } from './log-lines.ts';
import { LogStatus } from './log-status.tsx';
import { Button } from '../../parts/button.tsx';
import { Check, Select } from '../../parts/field.tsx';
import { copyText } from '../../parts/copy-button.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { Untrusted } from '../../parts/untrusted.tsx';

interface LogViewerProps {
  source: LogSource;
  /** `Build log` */
  label: string;
  lines: LogLines;
  /** The id of a line to open at. */
  linkedId: string | undefined;
  onNews: () => void;
  onEnd: () => void;
}

const levelNames: Readonly<Record<LogLevel, string>> = {
  debug: 'All levels',
  info: 'Info and above',
  warning: 'Warnings and errors',
  error: 'Errors only',
};

/** A growing log with search, levels and colours. It follows the end of the log until the reader scrolls up. */
export function LogViewer({ source, label, lines, linkedId, onNews, onEnd }: LogViewerProps) {
  const { state, retry } = useLog(source, lines, { onNews, onEnd });
  const [query, setQuery] = useState('');
  const [level, setLevel] = useState<LogLevel>('debug');
  const [onlyMatching, setOnlyMatching] = useState(false);
  const [isWrapped, setWrapped] = useState(true);
  const [showTimes, setShowTimes] = useState(() => matchMedia('(min-width: 700px)').matches);
  const [isFollowing, setFollowing] = useState(linkedId === undefined);
  const [selected, setSelected] = useState<number>();
  const [target, setTarget] = useState<{ number: number }>();
  const [isDownloading, run] = useAction();
  const list = useRef<HTMLDivElement>(null);
  const search = useRef<HTMLInputElement>(null);

  const view = useMemo(() => new LogView(lines, { query, level, onlyMatching }), [lines, query, level, onlyMatching]);
  view.update();

  const goTo = (number: number): void => {
    setFollowing(false);
    setSelected(number);
    setTarget({ number });
  };

  // Open the linked line as soon as it is loaded.
  const openedId = useRef<string>(undefined);
  const linked = linkedId === undefined ? undefined : lines.find(linkedId);
  useEffect(() => {
    if (linked === undefined || linkedId === openedId.current) return;
    openedId.current = linkedId;
    goTo(linked);
  }, [linkedId, linked]);

  const select = (number: number | undefined): void => {
    setSelected(number);
    const id = number === undefined ? undefined : lines.line(number)?.id;
    openedId.current = id;
    history.replaceState(null, '', logPagePath(source.kind, id));
  };

  const matchIndex = selected === undefined ? -1 : view.matches.indexOf(selected);
  const goToMatch = (step: 1 | -1): void => {
    const at = view.matchFrom(selected ?? (step === 1 ? -1 : lines.count), step);
    const number = at === undefined ? undefined : view.matches[at];
    if (number !== undefined) goTo(number);
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    const isTyping = event.target instanceof Element && event.target.matches('input, select, textarea');
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    search.current?.focus();
  };
  useEffect(() => {
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  });
  const onSearchKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    goToMatch(event.shiftKey ? -1 : 1);
  };

  const selectedLine = selected === undefined ? undefined : lines.line(selected);
  const isMissing =
    linkedId !== undefined && linked === undefined && (state.kind === 'live' || state.kind === 'complete');
  return (
    <div class="log">
      <div class="row log-tools">
        <div class="line log-search" role="search">
          <input
            ref={search}
            type="search"
            aria-label={`Search in the ${label.toLowerCase()}`}
            placeholder="Search (press /)"
            value={query}
            onInput={(event) => setQuery(event.currentTarget.value)}
            onKeyDown={onSearchKey}
          />
          <span class="muted small figure" role="status">
            {query !== '' && describeFound(view.matches.length, matchIndex)}
          </span>
          <Button
            kind="icon"
            label="Previous match"
            title="Previous match (Shift+Enter)"
            disabled={view.matches.length === 0}
            onClick={() => goToMatch(-1)}
          >
            ↑
          </Button>
          <Button
            kind="icon"
            label="Next match"
            title="Next match (Enter)"
            disabled={view.matches.length === 0}
            onClick={() => goToMatch(1)}
          >
            ↓
          </Button>
        </div>
        <Select
          aria-label="Levels"
          value={level}
          options={logLevels.map((value) => ({ value, label: levelNames[value] }))}
          onChange={(chosen) => setLevel(logLevels.find((each) => each === chosen) ?? 'debug')}
        />
        <Check label="Only matching lines" isOn={onlyMatching} onChange={setOnlyMatching} />
        <Check label="Times" isOn={showTimes} onChange={setShowTimes} />
        <Check label="Wrap" isOn={isWrapped} onChange={setWrapped} />
        <div class="line end">
          <Button aria-pressed={isFollowing} onClick={() => setFollowing(!isFollowing)}>
            Follow
          </Button>
          <Button onClick={() => copyLines(view.shown, lines)}>Copy</Button>
          <Button disabled={isDownloading} onClick={() => void run(() => downloadLog(source))}>
            {isDownloading ? 'Downloading …' : 'Download'}
          </Button>
        </div>
      </div>
      {isMissing && (
        <p class="notice" role="status">
          The linked line is not in this log any more: only the newest lines are kept.
        </p>
      )}
      {lines.dropped > 0 && (
        <p class="notice">
          This page keeps the newest {maxKeptLines.toLocaleString('en')} lines. Download the log to read the older ones.
        </p>
      )}
      <LogList
        label={label}
        kind={source.kind}
        lines={lines}
        view={view}
        query={query}
        selected={selected}
        target={target}
        isFollowing={isFollowing}
        isWrapped={isWrapped}
        showTimes={showTimes}
        onFollow={setFollowing}
        onSelect={select}
        listRef={list}
      />
      <LogStatus state={state} count={lines.count} shown={view.shown.length} retry={retry} />
      {selectedLine && selected !== undefined && (
        <LogLineDetails
          line={selectedLine}
          number={selected}
          kind={source.kind}
          onClose={() => {
            select(undefined);
            list.current?.focus();
          }}
        />
      )}
    </div>
  );
}

function describeFound(count: number, index: number): string {
  if (count === 0) return 'No line matches';
  const lines = `${count.toLocaleString('en')} ${count === 1 ? 'line' : 'lines'}`;
  return index === -1 ? lines : `${(index + 1).toLocaleString('en')} of ${lines}`;
}

const maxTextLength = 100_000;

interface LogLineDetailsProps {
  line: LogLine;
  number: number;
  kind: LogKind;
  onClose: () => void;
}

/** The details of a line: its whole text, and the fields of a JSON line. */
function LogLineDetails({ line, number, kind, onClose }: LogLineDetailsProps) {
  const { id, at, level, raw, text, fieldsAt, fields } = line;
  const link = location.origin + logPagePath(kind, id);
  return (
    <section class="log-details" aria-label={`Line ${number + 1}`}>
      <header class="row">
        <h3>Line {(number + 1).toLocaleString('en')}</h3>
        <span class="muted">
          {level}
          {!Number.isNaN(at) && `, ${new Date(at).toLocaleString()}`}
        </span>
        <span class="line end">
          <Button onClick={() => void copyText(raw, 'Copied the line.')}>Copy the line</Button>
          <Button onClick={() => void copyText(link, 'Copied the link.')}>Copy a link</Button>
          <Button kind="icon" label="Close the line" onClick={onClose}>
            ×
          </Button>
        </span>
      </header>
      <p class="log-whole" tabIndex={0} role="region" aria-label="Text of the line">
        <Untrusted text={text.slice(0, fieldsAt)} longest={maxTextLength} />
      </p>
      {fields !== undefined && Object.keys(fields).length > 0 && <JsonView name="Fields" value={fields} open />}
    </section>
  );
}
