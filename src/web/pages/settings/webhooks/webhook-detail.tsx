import { useState } from 'react'
import type { Answer } from '../../../api/call.ts'
import { usePages, useWrite } from '../../../api/use-route.ts'
import { Button } from '../../../parts/button/button.tsx'
import { JsonView } from '../../../parts/json/json-view.tsx'
import { Failure } from '../../../parts/states/failure.tsx'
import { Skeleton } from '../../../parts/states/skeleton.tsx'
import { Ago } from '../../../parts/time/ago.tsx'
import { duration } from '../../../parts/time/duration.ts'
import { useRefusal } from '../../../shell/session.tsx'
import styles from '../settings.module.css'
import type { WebhookRecord } from './new-webhook.tsx'

type Delivery = Answer<'POST /webhooks/{id}/deliveries/query'>['deliveries'][number]

/** A webhook with what it was sent. */
export function WebhookDetail({ webhook }: { readonly webhook: WebhookRecord }) {
  const path = { id: webhook.id }
  const test = useWrite('POST /webhooks/{id}/test')
  const archive = useWrite('POST /webhooks/{id}/archive')
  const unarchive = useWrite('POST /webhooks/{id}/unarchive')
  const [error, setError] = useState<unknown>()
  const refusal = useRefusal('read')
  const isArchived = webhook.deleted_at !== undefined
  const deliveries = usePages(
    'POST /webhooks/{id}/deliveries/query',
    { path, body: { windowing: { limit: 50, order: 'descending' } } },
    // What waits for its next attempt moves by itself.
    { enabled: refusal === undefined, refetchInterval: 3000 },
  )
  const go = (work: Promise<unknown>): void => {
    setError(undefined)
    work.catch(setError)
  }
  const rows = deliveries.data?.pages.flatMap((page) => page.deliveries)
  return (
    <section aria-label={`Deliveries to ${webhook.name ?? webhook.url}`} className={styles.detail}>
      <div className={styles.head}>
        <h2>{webhook.name ?? webhook.url}</h2>
        <span className={styles.buttons}>
          <Button
            needs="admin"
            busy={test.isPending}
            refusal={isArchived ? 'It is archived: bring it back first.' : undefined}
            onClick={() => go(test.mutateAsync({ path }))}
          >
            Send a test
          </Button>
          {isArchived ? (
            <Button needs="admin" onClick={() => go(unarchive.mutateAsync({ path }))}>
              Bring back
            </Button>
          ) : (
            <Button kind="danger" needs="admin" onClick={() => go(archive.mutateAsync({ path }))}>
              Archive
            </Button>
          )}
        </span>
      </div>
      {error !== undefined && <Failure error={error} />}
      {deliveries.error && <Failure error={deliveries.error} retry={deliveries.refetch} />}
      {!rows && !deliveries.error && <Skeleton label="Loading the deliveries" lines={3} />}
      {rows?.length === 0 && (
        <p className={styles.muted}>
          It has been sent nothing yet. A test shows whether the receiver answers.
        </p>
      )}
      <ul className={styles.deliveries}>
        {rows?.map((delivery) => (
          <OneDelivery key={delivery.id} delivery={delivery} />
        ))}
      </ul>
      {deliveries.hasNextPage && (
        <Button busy={deliveries.isFetchingNextPage} onClick={() => void deliveries.fetchNextPage()}>
          Show more
        </Button>
      )}
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
          <span
            className={status === 'failed' ? styles.bad : status === 'delivered' ? styles.good : styles.muted}
          >
            {status}
          </span>
          <code>{type}</code>
          <span className={styles.muted}>
            {attempts.length === 1 ? '1 attempt' : `${attempts.length} attempts`}
          </span>
          <Ago date={at} />
        </summary>
        <div className={styles.attempts}>
          <ul>
            {attempts.map((attempt, index) => (
              <li key={index}>
                <Ago date={attempt.at} />: {attempt.status_code ?? ''} {attempt.error ?? ''} in{' '}
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
