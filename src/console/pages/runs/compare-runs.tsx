import { Page } from '../../parts/page.tsx';

export default function CompareRuns() {
  return <Page title="CompareRuns">To be written.</Page>;
}
