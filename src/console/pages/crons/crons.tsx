import { Page } from '../../parts/page.tsx';

export default function Crons() {
  return <Page title="Crons">To be written.</Page>;
}
