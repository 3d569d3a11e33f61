import { useState } from 'preact/hooks';
import type { Assistant } from '../../../contract/agent/assistant.ts';
import { useForm } from '../../api/use-form.ts';
import { Check, LinesField, SelectField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/dialog.tsx';
import { readJson } from '../../parts/json-text.ts';
import { announce } from '../../parts/toasts.tsx';
import { shownText } from '../../parts/untrusted.tsx';
import { createCron } from './crons-api.ts';
import { nextFirings, timeIn } from './next-firings.ts';

interface CronFormProps {
  deploymentId: string;
  assistants: readonly Assistant[];
  onSaved: () => void;
  onClose: () => void;
}

/** Creates a cron. The next runs are shown while the schedule is typed. */
export function CronForm({ deploymentId, assistants, onSaved, onClose }: CronFormProps) {
  const { status, values, submit, show, typed } = useForm(() => ({
    assistant_id: assistants[0]?.assistant_id ?? '',
    schedule: '0 9 * * 1-5',
    timezone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
    input: '{}',
  }));
  const { assistant_id } = values;
  const [schedule, timezone] = [values.schedule.trim(), values.timezone.trim() || null];
  const { onInput: choose, ...assistant } = typed('assistant_id');
  const [keepsThread, setKeeps] = useState(true);
  const firings = nextFirings({ schedule, timezone }, Date.now());
  const save = async (): Promise<void> => {
    const read = readJson(values.input);
    if (assistant_id === '' || firings.problem || read.problem !== undefined) {
      show({ assistant_id: assistant_id === '' ? 'Choose an assistant.' : undefined, input: read.problem });
      return;
    }
    const isSaved = await submit(() =>
      createCron(deploymentId, {
        assistant_id,
        schedule,
        ...(timezone === null ? {} : { timezone }),
        input: read.value,
        on_run_completed: keepsThread ? 'keep' : 'delete',
      }),
    );
    if (!isSaved) return;
    announce('The cron is made.');
    onSaved();
    onClose();
  };
  const problemOf = (field: 'schedule' | 'timezone'): string | undefined =>
    firings.problem?.field === field ? firings.problem.text : typed(field).problem;
  return (
    <FormDialog title="New cron" action="Make the cron" {...status} onSubmit={() => void save()} onClose={onClose}>
      <SelectField
        label="Assistant"
        {...assistant}
        none="Choose"
        options={assistants.map(({ assistant_id, name, graph_id }) => ({
          value: assistant_id,
          label: shownText(name || graph_id, 80),
        }))}
        onChange={choose}
      />
      <TextField
        label="Schedule"
        hint="Minute, hour, day of the month, month, day of the week; or @hourly, @daily, @weekly, @monthly."
        {...typed('schedule')}
        problem={problemOf('schedule')}
        class="mono"
      />
      <TextField
        label="Time zone"
        hint="Such as Europe/Berlin; UTC if empty."
        {...typed('timezone')}
        problem={problemOf('timezone')}
        options={Intl.supportedValuesOf('timeZone').map((value) => ({ value }))}
      />
      {firings.times && (
        <div class="sunken cron-preview" role="status">
          <h3>Next runs</h3>
          {firings.times.length === 0 ? (
            <p class="field-error">This schedule never runs.</p>
          ) : (
            <ol class="plain">
              {firings.times.map((at) => (
                <li key={at}>{timeIn(timezone, at)}</li>
              ))}
            </ol>
          )}
        </div>
      )}
      <LinesField label="Input (JSON)" hint="What the graph is given at each run." {...typed('input')} />
      <Check label="Keep the thread of each run" isOn={keepsThread} onChange={setKeeps} />
    </FormDialog>
  );
}
