import { useState } from 'react'
import type { Answer } from '../../../api/call.ts'
import { useWrite } from '../../../api/use-route.ts'
import { FormDialog } from '../../../parts/dialog/form-dialog.tsx'
import { TextField } from '../../../parts/fields/text-field.tsx'
import type { Scope } from '../../../shell/session.tsx'
import { Checks } from '../checks.tsx'

/** A key as it is answered. */
export type ApiKeyRecord = Answer<'POST /keys/query'>['keys'][number]

const SCOPES: readonly { readonly value: Scope; readonly label: string }[] = [
  { value: 'read', label: 'read: see everything that is stored, clone and fetch' },
  { value: 'write', label: 'write: commit, push, fork, merge, archive' },
  { value: 'deploy', label: 'deploy: say what runs where, guarded environments too' },
  { value: 'invoke', label: 'invoke: run workflows and evaluations' },
  { value: 'admin', label: 'admin: all of these, keys, secrets and webhooks' },
]

export interface NewKeyProps {
  readonly close: () => void
  /** Told the key with its secret, which no other answer has. */
  readonly onMade: (key: ApiKeyRecord) => void
}

/** Makes an API key. */
export function NewKey({ close, onMade }: NewKeyProps) {
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
            hint="Of the author of its commits; the server makes one up where none is given."
            autoComplete="off"
          />
          <Checks legend="Scopes" choices={SCOPES} value={scopes} onChange={setScopes} />
        </>
      )}
    </FormDialog>
  )
}
