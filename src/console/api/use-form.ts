import { useState } from 'preact/hooks';
import { messageOf } from '../../kit/errors.ts';
import { announce, useIsUnmounted } from '../parts/toasts.tsx';
import { ApiError } from './http.ts';

type Problems = Readonly<Record<string, string | undefined>>;

/** The typed values of a form, by the name of the field in the request; undefined before the first input. */
type FormValues = Readonly<Record<string, string | undefined>>;

/** The state of a form that sends a request. */
export interface FormState<Values extends FormValues> {
  /** Whether the request is being sent, and the problem of the whole form. */
  status: { isBusy: boolean; problem: string | undefined };
  values: Values;
  /** Sends the form's request, one at a time, and shows the problems of a refusal. @returns whether it succeeded */
  submit: (request: () => Promise<unknown>) => Promise<boolean>;
  /** Shows problems by field; `''` is the whole form. */
  show: (problems: Problems) => void;
  /** The props of a text field. `value` is shown before the first input. An edit clears the problem. */
  typed: (
    field: keyof Values & string,
    value?: string,
  ) => { problem: string | undefined; value: string; onInput: (value: string) => void };
}

/** The state of a form: its values, and the result of its request. */
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
  const fieldProps: FormState<Values>['typed'] = (field, value = '') => ({
    problem: problems[field],
    value: values[field] ?? value,
    onInput: (text) => {
      setProblems((former) => ({ ...former, [field]: undefined, '': undefined }));
      setValues((former) => ({ ...former, [field]: text }));
    },
  });
  return { status: { isBusy, problem: problems[''] }, values, submit, show: setProblems, typed: fieldProps };
}

/** Runs an action, such as that of a button, one at a time. Announces its failure. */
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

/** Assigns the problems of a refused request to the fields of a form; others belong to the whole form. */
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
