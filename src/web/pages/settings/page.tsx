import { Page } from '../../parts/page/page.tsx'

/** The page of this address is being built. */
export default function SettingsPage() {
  return <Page crumbs={[{ label: 'Settings' }]}>{null}</Page>
}
