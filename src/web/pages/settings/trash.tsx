import { useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { useRoute, useWrite } from '../../api/use-route.ts'
import { Button } from '../../parts/button/button.tsx'
import { Empty } from '../../parts/states/empty.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'
import { Table } from '../../parts/table/table.tsx'
import { Ago } from '../../parts/time/ago.tsx'
import { useRefusal } from '../../shell/session.tsx'
import { Confirm } from './confirm.tsx'
import { Lead } from './lead.tsx'
import styles from './settings.module.css'

type Trashed = Answer<'GET /trash'>['trash'][number]

/** What was removed, and until when it comes back. */
export function Trash() {
  const refusal = useRefusal('read')
  const { data, error, refetch } = useRoute('GET /trash', {}, { enabled: refusal === undefined })
  const [leaving, setLeaving] = useState<Trashed>()
  const [failure, setFailure] = useState<unknown>()
  const purge = useWrite('DELETE /trash/{id}')
  const workflows = useWrite('POST /simple/workflows/{id}/undelete')
  const testsets = useWrite('POST /simple/testsets/{id}/undelete')
  const environments = useWrite('POST /simple/environments/{id}/undelete')
  const queries = useWrite('POST /simple/queries/{id}/undelete')
  const bringBack = ({ id, kind }: Trashed): void => {
    setFailure(undefined)
    const ask = { path: { id } }
    const families: Readonly<Record<string, () => Promise<unknown>>> = {
      workflow: () => workflows.mutateAsync(ask),
      testset: () => testsets.mutateAsync(ask),
      environment: () => environments.mutateAsync(ask),
      query: () => queries.mutateAsync(ask),
    }
    families[kind]?.().catch(setFailure)
  }
  return (
    <>
      <Lead refusal={refusal}>
        What was removed lies here whole, with its slug, until its time is over. It comes back exactly as it
        was.
      </Lead>
      {failure !== undefined && <Failure error={failure} />}
      {error && <Failure error={error} retry={refetch} />}
      {!data && !error && refusal === undefined && <Skeleton label="Loading the trash" />}
      {data?.count === 0 && (
        <Empty
          command={`curl -X DELETE -H "Authorization: ApiKey $BRANCHPOINT_KEY" "$BRANCHPOINT_URL/simple/applications/<slug>"`}
        >
          The trash is empty. Only what nothing refers to can be removed.
        </Empty>
      )}
      {data && data.count > 0 && (
        <Table
          caption="Trash"
          rows={data.trash}
          keyOf={({ id }) => id}
          columns={[
            { name: 'What', cell: (it) => <b>{it.name ?? it.slug}</b> },
            { name: 'Slug', cell: ({ slug }) => <code>{slug}</code> },
            { name: 'Family', cell: ({ kind }) => kind },
            { name: 'Removed', cell: (it) => <Ago date={it.trashed_at} /> },
            {
              name: 'Until',
              cell: ({ until }) => (
                <time dateTime={until} title={new Date(until).toLocaleString()}>
                  {new Date(until).toLocaleDateString()}
                </time>
              ),
            },
            {
              name: 'Change',
              cell: (it) => (
                <span className={styles.buttons}>
                  <Button needs="write" aria-label={`Bring back ${it.slug}`} onClick={() => bringBack(it)}>
                    Bring back
                  </Button>
                  <Button
                    needs="admin"
                    aria-label={`Remove for good: ${it.slug}`}
                    onClick={() => setLeaving(it)}
                  >
                    Remove for good
                  </Button>
                </span>
              ),
            },
          ]}
        />
      )}
      {leaving && (
        <Confirm
          title={`Remove ${leaving.slug} for good?`}
          action={`Remove ${leaving.slug} for good`}
          needs="admin"
          run={() => purge.mutateAsync({ path: { id: leaving.id } })}
          close={() => setLeaving(undefined)}
        >
          <p>
            Its repository is deleted with all of its history, and its slug becomes free. Nothing brings it
            back but a backup.
          </p>
        </Confirm>
      )}
    </>
  )
}
