import { useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { usePages, useWrite } from '../../api/use-route.ts'
import { Button, MoreButton } from '../../parts/button/button.tsx'
import { FormDialog } from '../../parts/dialog/dialog.tsx'
import { TextField } from '../../parts/fields/fields.tsx'
import { Ago } from '../../parts/time/time.tsx'
import { COMMAND } from '../../shell/document.ts'
import { useRefusal, type Scope } from '../../shell/session.tsx'
import { Checks, Lead, Listing, ShownOnce } from './section.tsx'
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
        API keys sign in people, programs and git. The name and email of a key become the author of its
        commits.
      </Lead>
      <Listing
        things="keys"
        rows={keys}
        query={listed}
        empty="No keys yet. You are using the key that the server was started with."
        command={`${COMMAND} keys create --name ci --scopes read,write`}
        caption="API keys"
        keyOf={({ id }) => id}
        columns={[
          {
            name: 'Name',
            cell: (key) => <b className={key.revoked_at === null ? '' : styles.gone}>{key.name}</b>,
          },
          { name: 'Author of commits', cell: (key) => <span className="muted">{key.email}</span> },
          { name: 'Scopes', cell: (key) => key.scopes.join(', ') },
          { name: 'Created', cell: (key) => <Ago date={key.created_at} /> },
          {
            name: 'Last used',
            cell: (key) => (key.last_used_at === null ? 'never' : <Ago date={key.last_used_at} />),
          },
          {
            name: 'State',
            cell: (key) =>
              key.revoked_at === null ? (
                <>
                  <Button needs="admin" onClick={() => setLeaving(key)} aria-label={`Revoke ${key.name}`}>
                    Revoke
                  </Button>
                  {key.expires_at !== undefined && <span className="muted"> {expiry(key.expires_at)}</span>}
                </>
              ) : (
                <span className="muted">
                  revoked <Ago date={key.revoked_at} />
                </span>
              ),
          },
        ]}
      />
      <MoreButton of={listed} />
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
            Its commits stay.
          </p>
        </FormDialog>
      )}
    </>
  )
}

/** `expires 1/1/2027`, in the reader's own form. */
function expiry(at: string): string {
  const date = new Date(at)
  return `${date.getTime() > Date.now() ? 'expires' : 'expired'} ${date.toLocaleDateString()}`
}

/** A key as the interface answers it. */
type ApiKeyRecord = Answer<'POST /keys/query'>['keys'][number]

const SCOPES: readonly { readonly value: Scope; readonly label: string }[] = [
  { value: 'read', label: 'read: see everything that is stored, clone and fetch' },
  { value: 'write', label: 'write: commit, push, fork, merge, archive' },
  { value: 'deploy', label: 'deploy: say what runs where, guarded environments too' },
  { value: 'invoke', label: 'invoke: run workflows and evaluations' },
  { value: 'annotate', label: 'annotate: say what is right and wrong in traces' },
  { value: 'admin', label: 'admin: all of these, keys, secrets and webhooks' },
]

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
  const { mutateAsync } = useWrite('POST /keys')
  const refusal =
    name.trim() === ''
      ? 'A key needs a name: who or what uses it.'
      : scopes.length === 0
        ? 'A key needs at least one scope.'
        : undefined
  async function create(): Promise<void> {
    const key = { name: name.trim(), scopes, ...(email.trim() === '' ? {} : { email: email.trim() }) }
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
            hint="The author of its commits. If left empty, the server makes one up."
            autoComplete="off"
          />
          <Checks legend="Scopes" choices={SCOPES} value={scopes} onChange={setScopes} />
        </>
      )}
    </FormDialog>
  )
}
