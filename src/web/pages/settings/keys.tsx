import { useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { usePages, useRoute, useWrite } from '../../api/use-route.ts'
import { Button, MoreButton } from '../../parts/button/button.tsx'
import { ApiLines } from '../../parts/copy/api-lines.tsx'
import { FormDialog } from '../../parts/dialog/dialog.tsx'
import { ChoiceField, TextField } from '../../parts/fields/fields.tsx'
import { Ago } from '../../parts/time/time.tsx'
import { COMMAND } from '../../shell/document.ts'
import { useRefusal, type Scope } from '../../shell/session.tsx'
import { Checks, type Choice, Lead, Listing, ShownOnce } from './section.tsx'
import styles from './settings.module.css'

/** The API keys of the project. */
export function Keys() {
  const refusal = useRefusal('admin')
  const [isNew, setNew] = useState(false)
  const [made, setMade] = useState<ApiKeyRecord>()
  const [leaving, setLeaving] = useState<ApiKeyRecord>()
  const listed = usePages(
    'POST /keys/query',
    { body: { windowing: { limit: 100, order: 'descending' } } },
    { enabled: refusal === undefined },
  )
  const revoke = useWrite('DELETE /keys/{id}')
  const keys = listed.data?.pages.flatMap((page) => page.keys)
  return (
    <>
      <Lead
        refusal={refusal}
        action={
          <Button kind="primary" needs="admin" onClick={() => setNew(true)}>
            New key
          </Button>
        }
      >
        API keys sign in people, programs and git. The name and email of a key become the author of what it
        saves.
      </Lead>
      <Listing
        things="keys"
        rows={keys}
        query={listed}
        empty="No keys yet. You are using the key that the server was started with."
        caption="API keys"
        keyOf={({ id }) => id}
        columns={[
          {
            name: 'Name',
            cell: (key) => <b className={key.revoked_at === null ? '' : styles.gone}>{key.name}</b>,
          },
          { name: 'Author', cell: (key) => <span className="muted">{key.email}</span> },
          { name: 'Scopes', cell: (key) => key.scopes.join(', ') },
          {
            name: 'Folders',
            cell: ({ folders }) =>
              folders === undefined ? (
                <span className="muted">all</span>
              ) : (
                folders.map((entry) => <div key={entry}>{shownFolder(entry)}</div>)
              ),
          },
          { name: 'Created', cell: (key) => <Ago date={key.created_at} inSentence /> },
          {
            name: 'Last used',
            cell: (key) => (key.last_used_at === null ? 'never' : <Ago date={key.last_used_at} inSentence />),
          },
          { name: 'Expires', cell: (key) => <Expiry of={key} /> },
          {
            name: 'Change',
            cell: (key) =>
              key.revoked_at === null && (
                <Button needs="admin" onClick={() => setLeaving(key)} aria-label={`Revoke ${key.name}`}>
                  Revoke
                </Button>
              ),
          },
        ]}
      />
      <MoreButton of={listed} />
      <ApiLines
        lines={[{ label: 'Make a key', text: `${COMMAND} keys create --name ci --scopes read,write` }]}
      />
      {isNew && (
        <NewKey
          close={() => setNew(false)}
          onMade={(key) => {
            setNew(false)
            setMade(key)
          }}
        />
      )}
      {made?.secret !== undefined && (
        <ShownOnce
          title={`The key ${made.name}`}
          secret={made.secret}
          label="API key"
          close={() => setMade(undefined)}
        />
      )}
      {leaving && (
        <FormDialog
          kind="danger"
          title={`Revoke ${leaving.name}?`}
          action={`Revoke ${leaving.name}`}
          needs="admin"
          submit={() => revoke.mutateAsync({ path: { id: leaving.id } })}
          close={() => setLeaving(undefined)}
        >
          <p>
            Programs, clones and sessions that use this key are refused from now on. This cannot be undone.
            What it saved stays.
          </p>
        </FormDialog>
      )}
    </>
  )
}

/** When a key stops working, or that it has. */
function Expiry({ of: { revoked_at: revoked, expires_at: at } }: { readonly of: ApiKeyRecord }) {
  if (revoked !== null)
    return (
      <span className="muted">
        revoked <Ago date={revoked} inSentence />
      </span>
    )
  if (at === undefined) return <span className="muted">never</span>
  const date = new Date(at)
  const isOver = date.getTime() <= Date.now()
  return (
    <time dateTime={at} title={date.toLocaleString()} className={isOver ? 'bad' : undefined}>
      {isOver && 'expired '}
      {date.toLocaleDateString()}
    </time>
  )
}

/** `support and all below it` for `support/**`. */
function shownFolder(entry: string): string {
  return entry.endsWith(ALL_BELOW) ? `${entry.slice(0, -ALL_BELOW.length)} and all below it` : entry
}

const ALL_BELOW = '/**'

/** A key as the interface answers it. */
type ApiKeyRecord = Answer<'POST /keys/query'>['keys'][number]

const SCOPES: readonly Choice<Scope>[] = [
  { value: 'read', label: 'read', note: 'see everything, clone and fetch' },
  { value: 'write', label: 'write', note: 'save versions, make variants, merge, archive, push' },
  { value: 'deploy', label: 'deploy', note: 'deploy to protected environments, too' },
  { value: 'invoke', label: 'invoke', note: 'run prompts and evaluations' },
  { value: 'annotate', label: 'annotate', note: 'say what is right and wrong in traces' },
  { value: 'admin', label: 'admin', note: 'all of these, and keys, secrets and webhooks' },
]

const EXPIRIES = [
  { value: '', label: 'Never' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: 'date', label: 'On a date …' },
]

/** More are typed. */
const MOST_FOLDERS = 50
const DAY = 24 * 60 * 60 * 1000

interface NewKeyProps {
  readonly close: () => void
  /** Called with the key and its secret, which no other answer contains. */
  readonly onMade: (key: ApiKeyRecord) => void
}

/** Makes an API key. */
function NewKey({ close, onMade }: NewKeyProps) {
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [scopes, setScopes] = useState<readonly Scope[]>(['read'])
  const [days, setDays] = useState('')
  const [date, setDate] = useState('')
  const [chosen, setChosen] = useState<readonly string[]>([])
  const [typed, setTyped] = useState('')
  const there = useRoute('GET /folders', {})
  const folders = [...chosen, ...typed.split(',').map((it) => it.trim())].filter((it) => it !== '')
  const { mutateAsync } = useWrite('POST /keys')
  const refusal =
    name.trim() === ''
      ? 'A key needs a name: who or what uses it.'
      : scopes.length === 0
        ? 'A key needs at least one scope.'
        : days === 'date' && date === ''
          ? 'Choose the date on which it expires.'
          : scopes.includes('admin') && folders.length > 0
            ? 'A key with the scope admin may do everything, so it cannot be limited to folders.'
            : undefined
  async function create(): Promise<void> {
    const expires = days === 'date' ? date : new Date(Date.now() + Number(days) * DAY).toISOString()
    const key = {
      name: name.trim(),
      scopes,
      ...(email.trim() === '' ? {} : { email: email.trim() }),
      ...(days === '' ? {} : { expires_at: expires }),
      ...(folders.length === 0 ? {} : { folders }),
    }
    onMade((await mutateAsync({ body: { key } })).key)
  }
  return (
    <FormDialog
      title="New key"
      action="Create the key"
      needs="admin"
      refusal={refusal}
      submit={create}
      close={close}
    >
      {(problemOf) => (
        <>
          <TextField
            label="Name"
            value={name}
            onChange={setName}
            problem={problemOf('name')}
            autoFocus
            autoComplete="off"
          />
          <TextField
            label="Email"
            value={email}
            onChange={setEmail}
            problem={problemOf('email')}
            hint="The author of what it saves. If left empty, the server makes one up."
            autoComplete="off"
          />
          <Checks legend="Scopes" choices={SCOPES} value={scopes} onChange={setScopes} />
          <ChoiceField label="Expires" value={days} choices={EXPIRIES} onChange={setDays} />
          {days === 'date' && (
            <TextField
              label="Date"
              type="date"
              value={date}
              onChange={setDate}
              problem={problemOf('expires_at')}
              hint="It stops working when this day begins in UTC."
            />
          )}
          <Checks
            legend="Only these folders, with all below them (every folder if none is selected)"
            choices={(there.data?.folders ?? []).slice(0, MOST_FOLDERS).map(({ path }) => ({
              value: `${path}${ALL_BELOW}`,
              label: path,
            }))}
            value={chosen}
            onChange={setChosen}
          />
          <TextField
            label="Other folders"
            value={typed}
            onChange={setTyped}
            problem={problemOf('folders')}
            placeholder="support/tier-1, shared/**"
            hint="Separated by commas, also folders that do not exist yet; /** means all below it, too."
            autoComplete="off"
          />
        </>
      )}
    </FormDialog>
  )
}
