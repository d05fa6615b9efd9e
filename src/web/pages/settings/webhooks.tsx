import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Answer, Ask } from '../../api/call.ts'
import { usePages, useWrite, useWork } from '../../api/use-route.ts'
import { Button, MoreButton } from '../../parts/button/button.tsx'
import { ApiLines, curlOf } from '../../parts/copy/api-lines.tsx'
import { FormDialog } from '../../parts/dialog/dialog.tsx'
import { TextField } from '../../parts/fields/fields.tsx'
import { JsonView } from '../../parts/json/json-view.tsx'
import { Failure, Skeleton } from '../../parts/states/states.tsx'
import { Ago, duration } from '../../parts/time/time.tsx'
import { places, useAddress } from '../../shell/places.ts'
import { useRefusal } from '../../shell/session.tsx'
import { Checks, Lead, Listing, ShownOnce } from './section.tsx'
import styles from './settings.module.css'

/** The webhooks; `?webhook=` opens one with its deliveries. */
export function Webhooks() {
  const { webhook: open } = useAddress()
  const refusal = useRefusal('read')
  const lacking = useRefusal('admin')
  const [isNew, setNew] = useState(false)
  const [made, setMade] = useState<WebhookRecord>()
  const listed = usePages(
    'POST /webhooks/query',
    { body: { include_archived: true, windowing: { limit: 100, order: 'descending' } } },
    { enabled: refusal === undefined },
  )
  const webhooks = listed.data?.pages.flatMap((page) => page.webhooks)
  const shown = webhooks?.find(({ id }) => id === open)
  return (
    <>
      <Lead
        refusal={refusal ?? lacking}
        action={
          <Button kind="primary" needs="admin" onClick={() => setNew(true)}>
            New webhook
          </Button>
        }
      >
        A webhook sends the project’s events to your URL: new versions, deployments and others, signed as
        Standard Webhooks describes.
      </Lead>
      <Listing
        things="webhooks"
        rows={webhooks}
        query={listed}
        empty="No webhooks yet."
        caption="Webhooks"
        keyOf={({ id }) => id}
        columns={[
          {
            name: 'Webhook',
            cell: (it) => (
              <Link
                to={places.settings('webhooks')}
                search={{ webhook: it.id }}
                aria-current={it.id === open || undefined}
              >
                {it.name ?? it.url}
              </Link>
            ),
          },
          { name: 'Address', cell: ({ url }) => <code>{url}</code> },
          {
            name: 'Events',
            cell: ({ events }) => (events.length === 0 ? 'all' : events.map(eventWords).join(', ')),
          },
          { name: 'State', cell: (it) => <State webhook={it} /> },
        ]}
      />
      <MoreButton of={listed} />
      <ApiLines
        lines={[
          {
            label: 'Make a webhook',
            text: curlOf('/webhooks/', { webhook: { url: 'https://hooks.example/branchpoint' } }),
          },
        ]}
      />
      {shown && <WebhookDetail key={shown.id} webhook={shown} />}
      {isNew && (
        <NewWebhook
          close={() => setNew(false)}
          onMade={(webhook) => {
            setNew(false)
            setMade(webhook)
          }}
        />
      )}
      {made?.secret !== undefined && (
        <ShownOnce
          title="The secret of the webhook"
          secret={made.secret}
          label="Secret that events are signed with"
          close={() => setMade(undefined)}
        />
      )}
    </>
  )
}

function State({ webhook }: { readonly webhook: WebhookRecord }) {
  if (webhook.deleted_at !== undefined) return <span className="muted">archived</span>
  if (webhook.is_active) return <span className="good">active</span>
  return (
    <span className="bad">
      off{webhook.inactive_reason === undefined ? '' : `: ${webhook.inactive_reason}`}
    </span>
  )
}

type Delivery = Answer<'POST /webhooks/{id}/deliveries/query'>['deliveries'][number]

/** A webhook with its deliveries. */
function WebhookDetail({ webhook }: { readonly webhook: WebhookRecord }) {
  const path = { id: webhook.id }
  const test = useWrite('POST /webhooks/{id}/test')
  const archive = useWrite('POST /webhooks/{id}/archive')
  const unarchive = useWrite('POST /webhooks/{id}/unarchive')
  const { start, error } = useWork()
  const refusal = useRefusal('read')
  const isArchived = webhook.deleted_at !== undefined
  const deliveries = usePages(
    'POST /webhooks/{id}/deliveries/query',
    { path, body: { windowing: { limit: 50, order: 'descending' } } },
    // Deliveries that wait for the next attempt change by themselves.
    { enabled: refusal === undefined, refetchInterval: 3000 },
  )
  const rows = deliveries.data?.pages.flatMap((page) => page.deliveries)
  return (
    <section aria-label={`Deliveries to ${webhook.name ?? webhook.url}`} className={styles.detail}>
      <div className={`between ${styles.head}`}>
        <h2>{webhook.name ?? webhook.url}</h2>
        <span className="row">
          <Button
            needs="admin"
            busy={test.isPending}
            refusal={isArchived ? 'It is archived: bring it back first.' : undefined}
            onClick={() => void start(() => test.mutateAsync({ path }))}
          >
            Send a test
          </Button>
          {isArchived ? (
            <Button needs="admin" onClick={() => void start(() => unarchive.mutateAsync({ path }))}>
              Bring back
            </Button>
          ) : (
            <Button
              kind="danger"
              needs="admin"
              onClick={() => void start(() => archive.mutateAsync({ path }))}
            >
              Archive
            </Button>
          )}
        </span>
      </div>
      {error !== undefined && <Failure error={error} />}
      {deliveries.error && <Failure error={deliveries.error} retry={deliveries.refetch} />}
      {!rows && !deliveries.error && <Skeleton label="Loading the deliveries" lines={3} />}
      {rows?.length === 0 && (
        <p className="muted">No deliveries yet. Send a test to see whether the receiver answers.</p>
      )}
      <ul className={styles.deliveries}>
        {rows?.map((delivery) => (
          <OneDelivery key={delivery.id} delivery={delivery} />
        ))}
      </ul>
      <MoreButton of={deliveries} />
    </section>
  )
}

function OneDelivery({ delivery }: { readonly delivery: Delivery }) {
  const again = useWrite('POST /webhooks/deliveries/{id}/redeliver')
  const { status, attempts, event_type: type, created_at: at, next_attempt_at: next } = delivery
  return (
    <li>
      <details>
        <summary>
          <span className={status === 'failed' ? 'bad' : status === 'delivered' ? 'good' : 'muted'}>
            {status}
          </span>
          <span title={type}>{eventWords(type)}</span>
          <span className="muted">{attempts.length === 1 ? '1 attempt' : `${attempts.length} attempts`}</span>
          <Ago date={at} inSentence />
        </summary>
        <div className={styles.attempts}>
          <ul>
            {attempts.map((attempt, index) => (
              <li key={index}>
                <Ago date={attempt.at} inSentence />: {attempt.status_code ?? ''} {attempt.error ?? ''} in{' '}
                {duration(attempt.duration_ms)}
              </li>
            ))}
            {next !== undefined && (
              <li>
                next attempt at <time dateTime={next}>{new Date(next).toLocaleTimeString()}</time>
              </li>
            )}
          </ul>
          <JsonView name="what was sent" value={delivery.payload} depth={1} />
          {again.error && <Failure error={again.error} />}
          <Button
            needs="admin"
            busy={again.isPending}
            onClick={() => again.mutate({ path: { id: delivery.id } })}
          >
            Deliver again
          </Button>
        </div>
      </details>
    </li>
  )
}

/** A webhook as the interface answers it. */
type WebhookRecord = Answer<'POST /webhooks/query'>['webhooks'][number]

type Wanted = NonNullable<Ask<'POST /webhooks'>['body']>['webhook']
type EventType = NonNullable<Wanted['events']>[number]

/** What events are called; `webhook.test` is that of a test. */
const EVENT_WORDS: Readonly<Record<EventType | 'webhook.test', string>> = {
  'revision.committed': 'New version',
  'environment.deployed': 'Deployed to an environment',
  'environment.undeployed': 'Removed from an environment',
  'artifact.created': 'Created: a prompt, evaluator, testset …',
  'artifact.edited': 'Edited: its name, tags or folder',
  'artifact.archived': 'Archived',
  'artifact.unarchived': 'Brought back from the archive',
  'variant.created': 'New variant',
  'variant.forked': 'New variant from another one',
  'variant.edited': 'Variant edited',
  'variant.archived': 'Variant archived',
  'variant.unarchived': 'Variant brought back',
  'revision.archived': 'Version archived',
  'revision.unarchived': 'Version brought back',
  'webhook.test': 'Test',
}

const EVENTS = (Object.keys(EVENT_WORDS) as (keyof typeof EVENT_WORDS)[]).filter(
  (it): it is EventType => it !== 'webhook.test',
)

function eventWords(type: string): string {
  return (EVENT_WORDS as Readonly<Record<string, string>>)[type] ?? type
}

interface NewWebhookProps {
  readonly close: () => void
  /** Called with the webhook and its secret, which no other answer contains. */
  readonly onMade: (webhook: WebhookRecord) => void
}

/** Creates a webhook. */
function NewWebhook({ close, onMade }: NewWebhookProps) {
  const { mutateAsync } = useWrite('POST /webhooks')
  const [url, setUrl] = useState('')
  const [name, setName] = useState('')
  const [events, setEvents] = useState<readonly EventType[]>([])
  async function make(): Promise<void> {
    const webhook = {
      url: url.trim(),
      ...(name.trim() === '' ? {} : { name: name.trim() }),
      ...(events.length === 0 ? {} : { events }),
    }
    onMade((await mutateAsync({ body: { webhook } })).webhook)
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
            legend="Events (all if none is selected)"
            choices={EVENTS.map((value) => ({ value, label: eventWords(value) }))}
            value={events}
            onChange={setEvents}
          />
        </>
      )}
    </FormDialog>
  )
}
