import { COMMAND } from '../../../api/command-name.ts'
import { useState } from 'react'
import { usePages, useWrite } from '../../../api/use-route.ts'
import { Button } from '../../../parts/button/button.tsx'
import { Empty } from '../../../parts/states/empty.tsx'
import { Failure } from '../../../parts/states/failure.tsx'
import { Skeleton } from '../../../parts/states/skeleton.tsx'
import { Table } from '../../../parts/table/table.tsx'
import { Ago } from '../../../parts/time/ago.tsx'
import { useRefusal } from '../../../shell/session.tsx'
import { Confirm } from '../confirm.tsx'
import { Lead } from '../lead.tsx'
import { type ApiKeyRecord, NewKey } from './new-key.tsx'
import { ShownOnce } from '../shown-once.tsx'
import styles from '../settings.module.css'

/** The API keys of the project. */
export function Keys() {
  const refusal = useRefusal('admin')
  const [isNew, setNew] = useState(false)
  const [made, setMade] = useState<ApiKeyRecord>()
  const [leaving, setLeaving] = useState<ApiKeyRecord>()
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = usePages(
    'POST /keys/query',
    { body: { windowing: { limit: 100, order: 'descending' } } },
    { enabled: refusal === undefined },
  )
  const revoke = useWrite('DELETE /keys/{id}')
  const keys = data?.pages.flatMap((page) => page.keys)
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
        A key is what a program, git or a person comes with. Its name and email become the git author of what
        it commits.
      </Lead>
      {error && <Failure error={error} retry={refetch} />}
      {!keys && !error && refusal === undefined && <Skeleton label="Loading the keys" />}
      {keys?.length === 0 && (
        <Empty command={`${COMMAND} keys create --name ci --scopes read,write`}>
          No key has been made: the server was started with the one that you use.
        </Empty>
      )}
      {keys && keys.length > 0 && (
        <Table
          caption="API keys"
          rows={keys}
          keyOf={({ id }) => id}
          columns={[
            {
              name: 'Name',
              cell: (key) => <b className={key.revoked_at === null ? '' : styles.gone}>{key.name}</b>,
            },
            { name: 'Author of commits', cell: (key) => <span className={styles.muted}>{key.email}</span> },
            { name: 'Scopes', cell: (key) => key.scopes.join(', ') },
            { name: 'Made', cell: (key) => <Ago date={key.created_at} /> },
            {
              name: 'Last used',
              cell: (key) => (key.last_used_at === null ? 'never' : <Ago date={key.last_used_at} />),
            },
            {
              name: 'State',
              cell: (key) =>
                key.revoked_at === null ? (
                  <Button needs="admin" onClick={() => setLeaving(key)} aria-label={`Revoke ${key.name}`}>
                    Revoke
                  </Button>
                ) : (
                  <span className={styles.muted}>
                    revoked <Ago date={key.revoked_at} />
                  </span>
                ),
            },
          ]}
        />
      )}
      {hasNextPage && (
        <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </Button>
      )}
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
        <Confirm
          title={`Revoke ${leaving.name}?`}
          action={`Revoke ${leaving.name}`}
          needs="admin"
          run={() => revoke.mutateAsync({ path: { id: leaving.id } })}
          close={() => setLeaving(undefined)}
        >
          <p>
            Whatever uses it is refused from its next request on: programs, clones that push or fetch, and
            everybody who signed in with it. It cannot be taken back; what it committed stays.
          </p>
        </Confirm>
      )}
    </>
  )
}
