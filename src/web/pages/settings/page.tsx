import { Link, useParams } from '@tanstack/react-router'
import { Page } from '../../parts/page/page.tsx'
import { FormDialog } from '../../parts/dialog/dialog.tsx'
import { LinkTabs } from '../../parts/tabs/tabs.tsx'
import { places } from '../../shell/places.ts'
import styles from './settings.module.css'
import { type ComponentType, useState } from 'react'
import { Audit } from './audit.tsx'
import { Keys } from './keys.tsx'
import { Secrets } from './secrets.tsx'
import { Storage } from './storage.tsx'
import { Webhooks } from './webhooks.tsx'
import { useRoute, useWrite, useWork, refetchShown } from '../../api/use-route.ts'
import { Failure } from '../../parts/states/states.tsx'
import { Facts, Lead, Listing } from './section.tsx'
import { useQueryClient, useQuery } from '@tanstack/react-query'
import { call, type Answer } from '../../api/call.ts'
import { Button } from '../../parts/button/button.tsx'
import { draftNames, emptyDrafts } from '../../parts/drafts/drafts-kept.ts'
import { Ago } from '../../parts/time/time.tsx'
import { useSession, useRefusal } from '../../shell/session.tsx'
import { chosenTheme, chooseTheme, type Theme } from '../../shell/document.ts'
import { writeOurs } from '../../api/ours.ts'

type Trashed = Answer<'GET /trash'>['trash'][number]

/** The deleted artifacts, and until when they can be restored. */
function Trash() {
  const refusal = useRefusal('read')
  const trash = useRoute('GET /trash', {}, { enabled: refusal === undefined })
  const [leaving, setLeaving] = useState<Trashed>()
  const { start, error: failure } = useWork()
  const purge = useWrite('DELETE /trash/{id}')
  const cache = useQueryClient()
  // All families are restored in the same way.
  const restore = async ({ id, kind }: Trashed): Promise<void> => {
    const family = kind === 'query' ? 'queries' : `${kind}s`
    const route = `POST /simple/${family}/{id}/undelete` as 'POST /simple/workflows/{id}/undelete'
    await writeOurs(() => call(route, { path: { id } }))
    await refetchShown(cache)
  }
  return (
    <>
      <Lead refusal={refusal}>
        Deleted items can be restored for 30 days, unchanged. After that they are removed for good.
      </Lead>
      {failure !== undefined && <Failure error={failure} />}
      <Listing
        things="trash"
        rows={trash.data?.trash}
        query={trash}
        empty="The trash is empty."
        caption="Trash"
        keyOf={({ id }) => id}
        columns={[
          { name: 'Name', cell: (it) => <b>{it.name ?? it.slug}</b> },
          { name: 'ID', cell: ({ slug }) => <code>{slug}</code> },
          { name: 'Kind', cell: ({ kind }) => KIND_WORDS[kind] ?? kind },
          { name: 'Deleted', cell: (it) => <Ago date={it.trashed_at} inSentence /> },
          {
            name: 'Can be restored until',
            cell: ({ until }) => (
              <time dateTime={until} title={new Date(until).toLocaleString()}>
                {new Date(until).toLocaleDateString()}
              </time>
            ),
          },
          {
            name: 'Change',
            cell: (it) => (
              <span className="row">
                <Button
                  needs="write"
                  aria-label={`Restore ${it.slug}`}
                  onClick={() => void start(() => restore(it))}
                >
                  Restore
                </Button>
                <Button
                  needs="admin"
                  aria-label={`Remove for good: ${it.slug}`}
                  onClick={() => setLeaving(it)}
                >
                  Remove for good
                </Button>
              </span>
            ),
          },
        ]}
      />
      {leaving && (
        <FormDialog
          kind="danger"
          title={`Remove ${leaving.slug} for good?`}
          action={`Remove ${leaving.slug} for good`}
          needs="admin"
          submit={() => purge.mutateAsync({ path: { id: leaving.id } })}
          close={() => setLeaving(undefined)}
        >
          <p>Every version of it is deleted, and its ID becomes free. Only a backup can restore it.</p>
        </FormDialog>
      )}
    </>
  )
}

/** The trash names families: a prompt and an evaluator are workflows there. */
const KIND_WORDS: Readonly<Record<string, string>> = { workflow: 'prompt or evaluator' }

const THEMES: readonly { readonly value: Theme; readonly label: string }[] = [
  { value: 'system', label: 'as in the system' },
  { value: 'light', label: 'light' },
  { value: 'dark', label: 'dark' },
]

/** The session and the theme. */
function SessionSettings() {
  const session = useSession()
  const cache = useQueryClient()
  const [theme, setTheme] = useState(chosenTheme)
  const { start, isBusy, error } = useWork()
  // A browser that cannot store drafts has none.
  const { data: drafts = [] } = useQuery({
    queryKey: ['names of drafts'],
    queryFn: () => draftNames().catch(() => []),
    networkMode: 'always',
  })
  async function signOut(): Promise<void> {
    await call('DELETE /sessions/current', {})
    // A browser that cannot store drafts cannot delete them either.
    await emptyDrafts().catch(() => undefined)
    // Data of this key is not shown to the next one. The session is refetched, not reset: a sign-in form that is already shown would lose what
    // was typed.
    await cache.invalidateQueries({ queryKey: ['session'] })
    cache.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
  }
  return (
    <>
      <Lead
        action={
          <Button kind="primary" busy={isBusy} onClick={() => void start(signOut)}>
            Sign out
          </Button>
        }
      >
        This browser is signed in with an API key and may do what that key may. Signing out deletes the drafts
        of edits that this browser keeps
        {drafts.length === 0 ? '; it keeps none now.' : `: ${drafts.map(shownDraft).join(', ')}.`}
      </Lead>
      {error !== undefined && <Failure error={error} />}
      <Facts
        label="Session"
        facts={[
          ['Key', session.principal.name],
          ['Project', session.project],
          ['Scopes', session.scopes.join(', ')],
          ['Signed in', <Ago date={session.created_at} />],
          [
            'Until',
            <time dateTime={session.expires_at}>{new Date(session.expires_at).toLocaleString()}</time>,
          ],
        ]}
      />
      <fieldset className="checks">
        <legend>Theme</legend>
        {THEMES.map(({ value, label }) => (
          <label key={value}>
            <input
              type="radio"
              name="theme"
              checked={theme === value}
              onChange={() => {
                chooseTheme(value)
                setTheme(value)
              }}
            />
            {label}
          </label>
        ))}
      </fieldset>
    </>
  )
}

/** Without the project: `support-bot/warmer`. */
function shownDraft(name: string): string {
  return name.slice(name.indexOf('/') + 1)
}

/** `/settings/<section>`: keys, secrets, webhooks, storage, audit, trash, session. */
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

/** A part of the settings, at `/settings/<name>`. */
interface Section {
  readonly name: string
  readonly label: string
  readonly content: ComponentType
}

const SECTIONS: readonly Section[] = [
  { name: 'keys', label: 'Keys', content: Keys },
  { name: 'secrets', label: 'Provider keys', content: Secrets },
  { name: 'webhooks', label: 'Webhooks', content: Webhooks },
  { name: 'storage', label: 'Storage', content: Storage },
  { name: 'audit', label: 'Audit', content: Audit },
  { name: 'trash', label: 'Trash', content: Trash },
  { name: 'session', label: 'Session', content: SessionSettings },
]
