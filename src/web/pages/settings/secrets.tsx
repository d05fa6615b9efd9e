import { useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { useRoute, useWrite } from '../../api/use-route.ts'
import { Button } from '../../parts/button/button.tsx'
import { FormDialog } from '../../parts/dialog/dialog.tsx'
import { TextField } from '../../parts/fields/fields.tsx'
import { Ago } from '../../parts/time/time.tsx'
import { COMMAND } from '../../shell/document.ts'
import { useRefusal } from '../../shell/session.tsx'
import { Lead, Listing } from './section.tsx'
import styles from './settings.module.css'

/** The secrets of the project, by their names. */
export function Secrets() {
  const refusal = useRefusal('admin')
  const secrets = useRoute('GET /secrets', {}, { enabled: refusal === undefined })
  /** The name of the secret to set; empty for a new one. */
  const [setting, setSetting] = useState<string>()
  const [leaving, setLeaving] = useState<string>()
  const remove = useWrite('DELETE /secrets/{name}')
  return (
    <>
      <Lead
        refusal={refusal}
        action={
          <Button kind="primary" needs="admin" onClick={() => setSetting('')}>
            Set a secret
          </Button>
        }
      >
        Keys of model providers and tokens of webhooks. They are stored encrypted, outside the repositories,
        and never shown again.
      </Lead>
      <Listing
        things="secrets"
        rows={secrets.data?.secrets}
        query={secrets}
        empty="No secrets yet. A prompt can call a model once its provider’s key is set."
        command={`${COMMAND} secrets set OPENAI_API_KEY`}
        caption="Secrets"
        keyOf={({ name }) => name}
        columns={[
          { name: 'Name', cell: ({ name }) => <code>{name}</code> },
          {
            name: 'Connection to',
            cell: (it) => [it.provider, it.base_url].filter(Boolean).join(' at ') || '–',
          },
          { name: 'Set', cell: (it) => <Ago date={it.updated_at} /> },
          {
            name: 'Change',
            cell: ({ name }) => (
              <span className={styles.buttons}>
                <Button needs="admin" aria-label={`Replace ${name}`} onClick={() => setSetting(name)}>
                  Replace
                </Button>
                <Button needs="admin" aria-label={`Remove ${name}`} onClick={() => setLeaving(name)}>
                  Remove
                </Button>
              </span>
            ),
          },
        ]}
      />
      {setting !== undefined && (
        <SetSecret
          name={setting}
          before={secrets.data?.secrets.find(({ name }) => name === setting)}
          close={() => setSetting(undefined)}
        />
      )}
      {leaving !== undefined && (
        <FormDialog
          kind="danger"
          title={`Remove ${leaving}?`}
          action={`Remove ${leaving}`}
          needs="admin"
          submit={() => remove.mutateAsync({ path: { name: leaving } })}
          close={() => setLeaving(undefined)}
        >
          <p>Runs that use it will fail. The value cannot be restored.</p>
        </FormDialog>
      )}
    </>
  )
}

interface SetSecretProps {
  /** Empty for a new one. */
  readonly name: string
  /** All but its value. */
  readonly before: Answer<'GET /secrets'>['secrets'][number] | undefined
  readonly close: () => void
}

/** Sets a secret, or replaces its value. */
function SetSecret({ name: given, before, close }: SetSecretProps) {
  const [name, setName] = useState(given)
  const [value, setValue] = useState('')
  const [provider, setProvider] = useState(before?.provider ?? '')
  const [baseUrl, setBaseUrl] = useState(before?.base_url ?? '')
  const { mutateAsync } = useWrite('PUT /secrets/{name}')
  const refusal =
    name.trim() === '' ? 'A secret needs a name.' : value === '' ? 'A secret needs a value.' : undefined
  async function save(): Promise<void> {
    const secret = {
      value,
      ...(provider.trim() === '' ? {} : { provider: provider.trim() }),
      ...(baseUrl.trim() === '' ? {} : { base_url: baseUrl.trim() }),
    }
    await mutateAsync({ path: { name: name.trim() }, body: { secret } })
  }
  return (
    <FormDialog
      title={given === '' ? 'Set a secret' : `Replace ${given}`}
      action={`Set ${name.trim() || 'the secret'}`}
      needs="admin"
      refusal={refusal}
      submit={save}
      close={close}
    >
      {(problemOf) => (
        <>
          <TextField
            label="Name"
            value={name}
            onChange={setName}
            readOnly={given !== ''}
            placeholder="OPENAI_API_KEY"
            problem={problemOf('name')}
            autoFocus={given === ''}
            autoComplete="off"
          />
          <TextField
            label="Value"
            type="password"
            value={value}
            onChange={setValue}
            problem={problemOf('value')}
            hint="It is not shown again. Handlers see it with their next run."
            autoFocus={given !== ''}
            autoComplete="new-password"
          />
          <TextField
            label="Provider"
            value={provider}
            onChange={setProvider}
            problem={problemOf('provider')}
            hint="For the key of a model provider: openai, anthropic, mistral …"
            autoComplete="off"
          />
          <TextField
            label="Address of the provider"
            value={baseUrl}
            onChange={setBaseUrl}
            problem={problemOf('base_url')}
            hint="If it is not the provider’s usual one."
            autoComplete="off"
          />
        </>
      )}
    </FormDialog>
  )
}
