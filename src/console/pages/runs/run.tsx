import { Page } from '../../parts/page.tsx';

export default function Run() {
  return <Page title="Run">To be written.</Page>;
}
