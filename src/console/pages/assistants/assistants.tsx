import { Page } from '../../parts/page.tsx';

export default function Assistants() {
  return <Page title="Assistants">To be written.</Page>;
}
