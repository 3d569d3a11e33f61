import { useState } from 'preact/hooks';
import { messageOf } from '../../kit/errors.ts';
import { announce, useIsUnmounted } from '../parts/toasts.tsx';
import { ApiError } from './http.ts';

export type Problems = Readonly<Record<string, string | undefined>>;

/** The state of a form that sends a request. */
export interface FormState {
  /** What its dialog shows: whether the request is sent, and what is wrong with the whole form. */
  status: { isBusy: boolean; problem: string | undefined };
  /** By the name of the field; `''` for the whole form. */
  problems: Problems;
  /** Runs a form's request once at a time, and keeps the problems of a refused one. @returns whether it succeeded */
  submit: (fields: readonly string[], request: () => Promise<unknown>) => Promise<boolean>;
  show: (problems: Problems) => void;
  /** A setter of a field that also takes its problem away, which was of the former value. */
  edited: <Value>(field: string, set: (value: Value) => void) => (value: Value) => void;
  /** The attributes of a field that is typed into. */
  typed: (
    field: string,
    value: string,
    set: (value: string) => void,
  ) => { problem: string | undefined; value: string; onInput: (value: string) => void };
}

/** Keeps the result of a form's request. */
export function useForm(): FormState {
  const [isBusy, setBusy] = useState(false);
  const [problems, setProblems] = useState<Problems>({});
  const isUnmounted = useIsUnmounted();
  const submit: FormState['submit'] = async (fields, request) => {
    if (isBusy) return false;
    setBusy(true);
    setProblems({});
    try {
      await request();
      return true;
    } catch (error) {
      // A closed form can't show the problem.
      if (isUnmounted()) announce(messageOf(error), 'failed');
      setProblems(problemsOf(error, fields));
      return false;
    } finally {
      setBusy(false);
    }
  };
  const edited: FormState['edited'] = (field, set) => (value) => {
    setProblems((former) => ({ ...former, [field]: undefined, '': undefined }));
    set(value);
  };
  const typed: FormState['typed'] = (field, value, set) => ({
    problem: problems[field],
    value,
    onInput: edited(field, set),
  });
  return { status: { isBusy, problem: problems[''] }, problems, submit, show: setProblems, edited, typed };
}

/** Runs one action at a time, such as that of a button, and announces its failure. */
export function useAction(): [isBusy: boolean, run: (action: () => Promise<unknown>) => Promise<void>] {
  const [isBusy, setBusy] = useState(false);
  const run = async (action: () => Promise<unknown>): Promise<void> => {
    if (isBusy) return;
    setBusy(true);
    try {
      await action();
    } catch (error) {
      announce(messageOf(error), 'failed');
    } finally {
      setBusy(false);
    }
  };
  return [isBusy, run];
}

/** The problems of a refused request at the fields of a form; those of other fields are the form's. */
function problemsOf(error: unknown, fields: readonly string[]): Problems {
  if (!(error instanceof ApiError)) return { '': messageOf(error) };
  const found: Record<string, string> = {};
  for (const { field, message } of error.problems) {
    const [name = ''] = field.split('.');
    const isKnown = fields.includes(name);
    const text = field === name && isKnown ? message : `${field}: ${message}`;
    const at = isKnown ? name : '';
    found[at] = found[at] === undefined ? text : `${found[at]}. ${text}`;
  }
  return error.problems.length === 0 ? { '': error.message } : found;
}
