import type { ComponentChildren } from 'preact';
import type { Assistant } from '../../../contract/agent/assistant.ts';
import { runStatus } from '../../parts/badge.tsx';
import { FilterField } from '../../parts/filter-field.tsx';
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
      <label>
        Status
        <select value={filter.status} onChange={(event) => change({ status: event.currentTarget.value })}>
          <option value="">Any status</option>
          {[...liveStatuses, ...finalRunStatuses].map((status) => (
            <option key={status} value={status}>
              {runStatus(status).label}
            </option>
          ))}
        </select>
      </label>
      <label>
        Assistant
        <select value={filter.assistant} onChange={(event) => change({ assistant: event.currentTarget.value })}>
          <option value="">Any assistant</option>
          {assistants.map(({ assistant_id, name, graph_id }) => (
            <option key={assistant_id} value={assistant_id}>
              {shownText(name ?? graph_id, 60)}
            </option>
          ))}
          {isUnknown && <option value={filter.assistant}>{shownText(filter.assistant, 60)}</option>}
        </select>
      </label>
      <label>
        Ended
        <select
          value={filter.time}
          onChange={(event) => change({ time: event.currentTarget.value, from: '', until: '' })}
        >
          <option value="">At any time</option>
          {Object.entries(timeRanges).map(([name, { label }]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
          <option value="custom">From … until …</option>
        </select>
      </label>
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
