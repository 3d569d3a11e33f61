import { useEffect, useState } from 'preact/hooks';
import { messageOf } from '../../kit/errors.ts';
import { ApiError } from '../api/http.ts';
import { signIn } from '../api/session.ts';
import { signInMessage } from '../api/session-state.ts';
import { Field } from '../parts/field.tsx';
import { Page } from '../parts/page.tsx';
import { Button } from '../parts/button.tsx';

/** Signs in with an API key. The one-time link of `npm run local` needs no key. */
export function SignIn() {
  const [apiKey, setApiKey] = useState('');
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const [seconds, waitFor] = useCountdown(() => setProblem('You can try again now.'));
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      await signIn({ api_key: apiKey.trim() });
    } catch (error) {
      setProblem(messageOf(error));
      if (error instanceof ApiError) waitFor(error.retryAfterSeconds);
      setBusy(false);
    }
  };
  return (
    <div class="sign-in">
      <header class="brand">
        <img src="icon.svg" alt="" width="36" height="36" />
        Landfall
      </header>
      <Page title="Sign in">
        {signInMessage.value !== undefined && (
          <p class="notice" role="status">
            {signInMessage.value}
          </p>
        )}
        <form class="panel" onSubmit={(event) => void submit(event)}>
          <Field
            label="API key"
            hint="It starts with `lf_`. On your own machine, open the link that `npm run local` prints instead."
            problem={problem}
          >
            {(attributes) => (
              <input
                {...attributes}
                type="password"
                autocomplete="off"
                required
                value={apiKey}
                onInput={(event) => {
                  setProblem(undefined);
                  setApiKey(event.currentTarget.value);
                }}
              />
            )}
          </Field>
          <Button kind="primary" type="submit" disabled={isBusy || seconds > 0}>
            {seconds > 0 ? `Wait ${seconds} s` : 'Sign in'}
          </Button>
        </form>
      </Page>
    </div>
  );
}

/** Counts seconds down to 0, which calls `onEnd`. */
function useCountdown(onEnd: () => void): [seconds: number, start: (seconds: number) => void] {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    if (seconds <= 0) return undefined;
    const timer = setTimeout(() => {
      setSeconds(seconds - 1);
      if (seconds === 1) onEnd();
    }, 1_000);
    return () => clearTimeout(timer);
  }, [seconds]);
  return [seconds, setSeconds];
}
