import { useState } from 'react'
import type { Answer, Ask } from '../../../api/call.ts'
import { FormDialog } from '../../../parts/dialog/form-dialog.tsx'
import { TextField } from '../../../parts/fields/text-field.tsx'
import { Checks } from '../checks.tsx'

/** A webhook as it is answered. */
export type WebhookRecord = Answer<'POST /webhooks/query'>['webhooks'][number]

type Wanted = NonNullable<Ask<'POST /webhooks'>['body']>['webhook']
type EventType = NonNullable<Wanted['events']>[number]

const EVENTS: readonly EventType[] = [
  'revision.committed',
  'environment.deployed',
  'environment.undeployed',
  'artifact.created',
  'artifact.edited',
  'artifact.archived',
  'artifact.unarchived',
  'variant.created',
  'variant.forked',
  'variant.edited',
  'variant.archived',
  'variant.unarchived',
  'revision.archived',
  'revision.unarchived',
]

export interface NewWebhookProps {
  readonly create: (webhook: Wanted) => Promise<WebhookRecord>
  readonly close: () => void
  /** Told the webhook with its secret, which no other answer has. */
  readonly onMade: (webhook: WebhookRecord) => void
}

/** Has events sent to an address. */
export function NewWebhook({ create, close, onMade }: NewWebhookProps) {
  const [url, setUrl] = useState('')
  const [name, setName] = useState('')
  const [events, setEvents] = useState<readonly EventType[]>([])
  async function make(): Promise<void> {
    const webhook = {
      url: url.trim(),
      ...(name.trim() === '' ? {} : { name: name.trim() }),
      ...(events.length === 0 ? {} : { events }),
    }
    onMade(await create(webhook))
  }
  return (
    <FormDialog
      title="New webhook"
      action="Create the webhook"
      needs="admin"
      refusal={url.trim() === '' ? 'A webhook needs an address.' : undefined}
      submit={make}
      close={close}
    >
      {(problemOf) => (
        <>
          <TextField
            label="Address"
            value={url}
            onChange={setUrl}
            placeholder="https://hooks.example/branchpoint"
            problem={problemOf('url')}
            autoFocus
            autoComplete="off"
          />
          <TextField
            label="Name"
            value={name}
            onChange={setName}
            problem={problemOf('name')}
            autoComplete="off"
          />
          <Checks
            legend="Events; all of them where none is picked"
            choices={EVENTS.map((value) => ({ value, label: value }))}
            value={events}
            onChange={setEvents}
          />
        </>
      )}
    </FormDialog>
  )
}
