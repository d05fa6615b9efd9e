import { Link, useParams } from '@tanstack/react-router'
import { Page } from '../../parts/page/page.tsx'
import { LinkTabs } from '../../parts/tabs/link-tabs.tsx'
import { places } from '../../shell/places.ts'
import { SECTIONS } from './sections.ts'
import styles from './settings.module.css'

/** `/settings/<section>`: keys, secrets, webhooks, what was removed, how the server is, who is signed in. */
export default function SettingsPage() {
  const { section: name = '' } = useParams({ strict: false })
  const section = SECTIONS.find((it) => it.name === name)
  return (
    <Page crumbs={[{ label: 'Settings', to: places.settings('keys') }, { label: section?.label ?? name }]}>
      <LinkTabs
        label="Settings"
        tabs={SECTIONS.map((it) => ({
          label: it.label,
          to: places.settings(it.name),
          isHere: it === section,
        }))}
      />
      <div className={styles.section}>
        {section ? (
          <section.content />
        ) : (
          <p>
            There are no settings called “{name}”. Begin with the{' '}
            <Link to={places.settings('keys')}>keys</Link>.
          </p>
        )}
      </div>
    </Page>
  )
}
