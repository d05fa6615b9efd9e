import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Answer, Ask } from '../../api/call.ts'
import { usePages, useRoute } from '../../api/use-route.ts'
import { Button, MoreButton } from '../../parts/button/button.tsx'
import { ApiLines, curlOf } from '../../parts/copy/api-lines.tsx'
import { ChoiceField, TextField } from '../../parts/fields/fields.tsx'
import { Ago } from '../../parts/time/time.tsx'
import { places, useAddress, useChangeAddress } from '../../shell/places.ts'
import { useRefusal } from '../../shell/session.tsx'
import { Lead, Listing } from './section.tsx'
import styles from './settings.module.css'

type Entry = Answer<'POST /audit/query'>['entries'][number]
type Filter = NonNullable<NonNullable<Ask<'POST /audit/query'>['body']>['audit']>
type Kind = NonNullable<Filter['kind']>[number]

const KINDS: readonly { readonly value: Kind | ''; readonly label: string }[] = [
  { value: '', label: 'Everything' },
  { value: 'deployment', label: 'Deployments' },
  { value: 'key', label: 'API keys' },
  { value: 'secret', label: 'Secrets' },
  { value: 'session', label: 'Sign-ins' },
  { value: 'guard', label: 'Protected environments' },
  { value: 'archive', label: 'Archive' },
  { value: 'trash', label: 'Trash' },
  { value: 'project', label: 'Projects' },
]

/** Who did what, the newest first. `?what=`, `?who=`, `?from=` and `?to=` filter the list. */
export function Audit() {
  const { what = '', who = '', from = '', to = '' } = useAddress()
  const refusal = useRefusal('admin')
  const isAllowed = { enabled: refusal === undefined }
  const keys = useRoute('GET /keys', {}, isAllowed)
  const kind = KINDS.find(({ value }) => value === what && value !== '')?.value
  const body: Ask<'POST /audit/query'>['body'] = {
    audit: { ...(kind ? { kind: [kind] } : {}), ...(who === '' ? {} : { principal: who }) },
    windowing: {
      limit: 50,
      order: 'descending',
      ...(startOf(from) === undefined ? {} : { oldest: startOf(from) }),
      ...(startOf(to, 1) === undefined ? {} : { newest: startOf(to, 1) }),
    },
  }
  const audit = usePages('POST /audit/query', { body }, isAllowed)
  const change = useChangeAddress()
  const filter = (filters: Readonly<Record<string, string>>): void => change(filters, true)
  const principals = [
    { value: '', label: 'Everybody' },
    { value: 'key:admin', label: 'admin (the server’s own key)' },
    ...(keys.data?.keys ?? []).map(({ id, name }) => ({ value: `key:${id}`, label: name })),
  ]
  return (
    <>
      <Lead refusal={refusal}>
        Who made and revoked keys, set secrets, signed in, protected, archived, deleted and deployed, and
        when. Versions have their own history.
      </Lead>
      {refusal === undefined && (
        <div className={styles.filters} role="group" aria-label="Filters">
          <ChoiceField
            label="What"
            value={what}
            choices={KINDS}
            onChange={(value) => filter({ what: value })}
          />
          <ChoiceField
            label="Who"
            value={who}
            choices={
              principals.some(({ value }) => value === who)
                ? principals
                : [...principals, { value: who, label: who }]
            }
            onChange={(value) => filter({ who: value })}
          />
          <TextField label="From" type="date" value={from} onChange={(value) => filter({ from: value })} />
          <TextField label="To" type="date" value={to} onChange={(value) => filter({ to: value })} />
          {[what, who, from, to].some((it) => it !== '') && (
            <Button kind="quiet" onClick={() => filter({ what: '', who: '', from: '', to: '' })}>
              Clear filters
            </Button>
          )}
        </div>
      )}
      <Listing
        things="audit"
        rows={audit.data?.pages.flatMap((page) => page.entries)}
        query={audit}
        empty="Nothing that matches was recorded."
        caption="Audit"
        keyOf={({ id }) => id}
        columns={[
          { name: 'When', cell: ({ date }) => <Ago date={date} inSentence /> },
          {
            name: 'Who',
            cell: ({ principal }) =>
              principal?.name ?? <span className="muted">someone at the server’s terminal</span>,
          },
          {
            name: 'What',
            cell: (entry) => (
              <span className={styles.act}>
                <Act of={entry} />
              </span>
            ),
          },
        ]}
      />
      <MoreButton of={audit}>Show older</MoreButton>
      <ApiLines lines={[{ label: 'The same list', text: curlOf('/audit/query', body) }]} />
    </>
  )
}

/** The first moment of a day, or of one some days later, in the reader's time zone; undefined if it is none. */
function startOf(date: string, later = 0): string | undefined {
  const [year = 0, month = 0, day = 0] = /^\d{4}-\d\d-\d\d$/.test(date) ? date.split('-').map(Number) : []
  const at = new Date(year, month - 1, day + later)
  return year === 0 || Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}

/** A thing that an entry names. */
interface Thing {
  readonly id?: string
  readonly slug?: string
  readonly name?: string
}

const VERBS: Readonly<Record<string, string>> = {
  'session began': 'signed in',
  'session ended': 'signed out',
  guarded: 'protected',
  unguarded: 'stopped protecting',
  unarchived: 'brought back from the archive:',
  trashed: 'deleted',
  undeleted: 'restored from the trash:',
}

function Act({ of: entry }: { readonly of: Entry }) {
  const { kind, action } = entry
  const verb = VERBS[`${kind} ${action}`] ?? VERBS[action] ?? action
  if (kind === 'session') return verb
  if (kind === 'deployment') return <Deployment of={entry} />
  const part = thingIn(entry, '_variant') ?? (thingIn(entry, '_revision') && { name: 'a version' })
  return (
    <>
      {verb} {part && <>{wordsOf('variant', part)} of </>}
      <Named of={entry} />
    </>
  )
}

function Deployment({ of: entry }: { readonly of: Entry }) {
  const { key, to } = (entry['deployment'] ?? {}) as { readonly key?: string; readonly to?: Entry }
  const version = to && thingIn(to, '_revision')
  const environment = (entry['environment'] ?? {}) as Thing
  return (
    <>
      {to ? 'deployed ' : 'took down '}
      {to ? <Named of={to} /> : <b>{key?.replace(/\.revision$/, '')}</b>}
      {version?.slug !== undefined && <span className="muted"> ({version.slug})</span>}
      {to ? ' to ' : ' from '}
      <Link to={places.environment(environment.slug ?? '')}>{environment.slug}</Link>
    </>
  )
}

/** The kinds of things, what they are called, and where they are. */
const THINGS: readonly (readonly [string, string, (slug: string) => string | undefined])[] = [
  ['workflow', '', places.artifact],
  ['testset', 'testset', places.testset],
  ['query', 'query', places.query],
  ['environment', 'environment', places.environment],
  ['key', 'the key', () => places.settings('keys')],
  ['secret', 'the secret', () => places.settings('secrets')],
  ['project', 'the project', () => undefined],
]

/** The thing of an entry, with a link to it. */
function Named({ of: entry }: { readonly of: Readonly<Record<string, unknown>> }): ReactNode {
  for (const [kind, word, placeOf] of THINGS) {
    const thing = entry[kind] as Thing | undefined
    if (thing === undefined) continue
    const shown = thing.name ?? thing.slug ?? thing.id ?? ''
    const to = placeOf(thing.slug ?? '')
    return (
      <>
        {word} {to === undefined ? <b>{shown}</b> : <Link to={to}>{shown}</Link>}
      </>
    )
  }
  return null
}

function thingIn(entry: Readonly<Record<string, unknown>>, ending: string): Thing | undefined {
  const [, thing] = Object.entries(entry).find(([name]) => name.endsWith(ending)) ?? []
  return thing as Thing | undefined
}

function wordsOf(word: string, { name, slug }: Thing): string {
  return name ?? `the ${word} ${slug ?? ''}`
}
