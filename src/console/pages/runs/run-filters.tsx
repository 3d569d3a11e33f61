import type { ComponentChildren } from 'preact';
import type { Assistant } from '../../../contract/agent/assistant.ts';
import { runStatus } from '../../parts/badge.tsx';
import { FilterField, FilterSelect } from '../../parts/filter-field.tsx';
import { shownText } from '../../parts/untrusted.tsx';
import { finalRunStatuses } from '../../../contract/agent/run.ts';
import { liveStatuses } from './live-runs.ts';
import { timeRanges, type RunFilter } from './run-filter.ts';

interface RunFiltersProps {
  /** Those to choose from. Names are a help only: without a live agent, the filter of the address still works. */
  assistants: readonly Assistant[];
  filter: RunFilter;
  problems: Partial<Record<keyof RunFilter, string>>;
  change: (changes: Partial<RunFilter>) => void;
  actions: ComponentChildren;
}

/** The filters of the runs, which are kept in the address. */
export function RunFilters({ assistants, filter, problems, change, actions }: RunFiltersProps) {
  const isUnknown = filter.assistant !== '' && !assistants.some((each) => each.assistant_id === filter.assistant);
  return (
    <search class="list-filters">
      <FilterSelect
        label="Status"
        value={filter.status}
        options={[
          { value: '', label: 'Any status' },
          ...[...liveStatuses, ...finalRunStatuses].map((value) => ({ value, label: runStatus(value).label })),
        ]}
        onChange={(status) => change({ status })}
      />
      <FilterSelect
        label="Assistant"
        value={filter.assistant}
        options={[
          { value: '', label: 'Any assistant' },
          ...assistants.map(({ assistant_id, name, graph_id }) => ({
            value: assistant_id,
            label: shownText(name ?? graph_id, 60),
          })),
          ...(isUnknown ? [{ value: filter.assistant, label: shownText(filter.assistant, 60) }] : []),
        ]}
        onChange={(assistant) => change({ assistant })}
      />
      <FilterSelect
        label="Ended"
        value={filter.time}
        options={[
          { value: '', label: 'At any time' },
          ...Object.entries(timeRanges).map(([value, { label }]) => ({ value, label })),
          { value: 'custom', label: 'From … until …' },
        ]}
        onChange={(time) => change({ time, from: '', until: '' })}
      />
      {filter.time === 'custom' && (
        <>
          <FilterField
            label="From"
            type="datetime-local"
            value={filter.from}
            problem={problems.from}
            onChange={(from) => change({ from })}
          />
          <FilterField
            label="Until"
            type="datetime-local"
            value={filter.until}
            problem={problems.until}
            onChange={(until) => change({ until })}
          />
        </>
      )}
      <FilterField
        label="Thread"
        placeholder="Id of a thread"
        value={filter.thread}
        problem={problems.thread}
        onChange={(thread) => change({ thread: thread.trim() })}
      />
      <FilterField
        label="Text of the error"
        placeholder="Search errors"
        value={filter.error}
        problem={problems.error}
        onChange={(error) => change({ error })}
      />
      {actions}
    </search>
  );
}
