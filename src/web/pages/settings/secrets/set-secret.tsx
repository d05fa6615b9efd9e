import { useState } from 'react'
import type { Answer } from '../../../api/call.ts'
import { useWrite } from '../../../api/use-route.ts'
import { FormDialog } from '../../../parts/dialog/form-dialog.tsx'
import { TextField } from '../../../parts/fields/text-field.tsx'

export interface SetSecretProps {
  /** Empty for a new one. */
  readonly name: string
  /** What is known of it: all but its value. */
  readonly before: Answer<'GET /secrets'>['secrets'][number] | undefined
  readonly close: () => void
}

/** Sets a secret, or replaces its value. */
export function SetSecret({ name: given, before, close }: SetSecretProps) {
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
    close()
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
            hint="Only for a connection that prompts name: openai, anthropic, mistral …"
            autoComplete="off"
          />
          <TextField
            label="Address of the provider"
            value={baseUrl}
            onChange={setBaseUrl}
            problem={problemOf('base_url')}
            hint="Only where it is not the usual one."
            autoComplete="off"
          />
        </>
      )}
    </FormDialog>
  )
}
