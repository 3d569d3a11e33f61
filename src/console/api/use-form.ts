import { useState } from 'preact/hooks';
import { messageOf } from '../../kit/errors.ts';
import { announce, useIsUnmounted } from '../parts/toasts.tsx';
import { ApiError } from './http.ts';

type Problems = Readonly<Record<string, string | undefined>>;

/** What is typed into a form, by the name of the field in the request; undefined before anything is. */
type FormValues = Readonly<Record<string, string | undefined>>;

/** The state of a form that sends a request. */
export interface FormState<Values extends FormValues> {
  /** What its dialog shows: whether the request is sent, and what is wrong with the whole form. */
  status: { isBusy: boolean; problem: string | undefined };
  values: Values;
  /** Runs the form's request once at a time, and keeps the problems of a refused one. @returns whether it succeeded */
  submit: (request: () => Promise<unknown>) => Promise<boolean>;
  /** Shows problems by the names of their fields; `''` for the whole form. */
  show: (problems: Problems) => void;
  /** The attributes of a field that is typed into; `value` is shown until something is. An edit takes a problem away. */
  typed: (
    field: keyof Values & string,
    value?: string,
  ) => { problem: string | undefined; value: string; onInput: (value: string) => void };
}

/** Keeps what is typed into a form, and the result of its request. */
export function useForm<Values extends FormValues>(initial: Values | (() => Values)): FormState<Values> {
  const [isBusy, setBusy] = useState(false);
  const [values, setValues] = useState(initial);
  const [problems, setProblems] = useState<Problems>({});
  const isUnmounted = useIsUnmounted();
  const submit: FormState<Values>['submit'] = async (request) => {
    if (isBusy) return false;
    setBusy(true);
    setProblems({});
    try {
      await request();
      return true;
    } catch (error) {
      // A closed form can't show the problem.
      if (isUnmounted()) announce(messageOf(error), 'failed');
      setProblems(problemsOf(error, Object.keys(values)));
      return false;
    } finally {
      setBusy(false);
    }
  };
  const typed: FormState<Values>['typed'] = (field, value = '') => ({
    problem: problems[field],
    value: values[field] ?? value,
    onInput: (text) => {
      setProblems((former) => ({ ...former, [field]: undefined, '': undefined }));
      setValues((former) => ({ ...former, [field]: text }));
    },
  });
  return { status: { isBusy, problem: problems[''] }, values, submit, show: setProblems, typed };
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
