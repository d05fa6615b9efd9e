import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { usePages, useWrite } from '../../../api/use-route.ts'
import { Button } from '../../../parts/button/button.tsx'
import { Empty } from '../../../parts/states/empty.tsx'
import { Failure } from '../../../parts/states/failure.tsx'
import { Skeleton } from '../../../parts/states/skeleton.tsx'
import { Table } from '../../../parts/table/table.tsx'
import { places } from '../../../shell/places.ts'
import { useRefusal } from '../../../shell/session.tsx'
import { Lead } from '../lead.tsx'
import { NewWebhook, type WebhookRecord } from './new-webhook.tsx'
import { ShownOnce } from '../shown-once.tsx'
import styles from '../settings.module.css'
import { WebhookDetail } from './webhook-detail.tsx'

/** What is told of events; `?webhook=` opens one with its deliveries. */
export function Webhooks() {
  const { webhook: open } = useSearch({ strict: false }) as { readonly webhook?: string }
  const refusal = useRefusal('read')
  const lacking = useRefusal('admin')
  const [isNew, setNew] = useState(false)
  const [made, setMade] = useState<WebhookRecord>()
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = usePages(
    'POST /webhooks/query',
    { body: { include_archived: true, windowing: { limit: 100, order: 'descending' } } },
    { enabled: refusal === undefined },
  )
  const create = useWrite('POST /webhooks')
  const webhooks = data?.pages.flatMap((page) => page.webhooks)
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
        A webhook is told of commits, deployments and everything else that happens in the project, signed by
        the rules of Standard Webhooks.
      </Lead>
      {error && <Failure error={error} retry={refetch} />}
      {!webhooks && !error && refusal === undefined && <Skeleton label="Loading the webhooks" />}
      {webhooks?.length === 0 && (
        <Empty
          command={`curl -H "Authorization: ApiKey $BRANCHPOINT_KEY" -H 'Content-Type: application/json' "$BRANCHPOINT_URL/webhooks/" -d '{"webhook": {"url": "https://hooks.example/branchpoint"}}'`}
        >
          Nothing is told of events yet.
        </Empty>
      )}
      {webhooks && webhooks.length > 0 && (
        <Table
          caption="Webhooks"
          rows={webhooks}
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
            { name: 'Events', cell: ({ events }) => (events.length === 0 ? 'all' : events.join(', ')) },
            { name: 'State', cell: (it) => <State webhook={it} /> },
          ]}
        />
      )}
      {hasNextPage && (
        <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </Button>
      )}
      {shown && <WebhookDetail key={shown.id} webhook={shown} />}
      {isNew && (
        <NewWebhook
          create={async (webhook) => (await create.mutateAsync({ body: { webhook } })).webhook}
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
  if (webhook.deleted_at !== undefined) return <span className={styles.muted}>archived</span>
  if (webhook.is_active) return <span className={styles.good}>active</span>
  return (
    <span className={styles.bad}>
      off{webhook.inactive_reason === undefined ? '' : `: ${webhook.inactive_reason}`}
    </span>
  )
}
