import { Button } from '../../parts/button.tsx';
import { copyText } from '../../parts/copy-button.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { Untrusted } from '../../parts/untrusted.tsx';
import { logAddress, type LogKind } from './use-log.ts';
import type { LogLine } from './log-line.ts';

const longestText = 100_000;

interface LogLineDetailsProps {
  line: LogLine;
  number: number;
  kind: LogKind;
  onClose: () => void;
}

/** A whole line of a log: all of a long text, and the fields of a JSON line. */
export function LogLineDetails({ line, number, kind, onClose }: LogLineDetailsProps) {
  const { id, at, level, raw, text, fieldsAt, fields } = line;
  const link = location.origin + logAddress(kind, id);
  return (
    <section class="log-details" aria-label={`Line ${number + 1}`}>
      <header class="row">
        <h3>Line {(number + 1).toLocaleString('en')}</h3>
        <span class="muted">
          {level}
          {!Number.isNaN(at) && `, ${new Date(at).toLocaleString()}`}
        </span>
        <span class="log-buttons">
          <Button onClick={() => void copyText(raw, 'Copied the line.')}>Copy the line</Button>
          <Button onClick={() => void copyText(link, 'Copied the link.')}>Copy a link</Button>
          <Button kind="icon" label="Close the line" onClick={onClose}>
            ×
          </Button>
        </span>
      </header>
      <p class="log-whole" tabIndex={0} role="region" aria-label="Text of the line">
        <Untrusted text={text.slice(0, fieldsAt)} longest={longestText} />
      </p>
      {fields !== undefined && Object.keys(fields).length > 0 && <JsonView name="Fields" value={fields} open />}
    </section>
  );
}
