import { Page } from '../../parts/page.tsx';

export default function Runs() {
  return <Page title="Runs">To be written.</Page>;
}
