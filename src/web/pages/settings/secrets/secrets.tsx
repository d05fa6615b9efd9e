import { COMMAND } from '../../../api/command-name.ts'
import { useState } from 'react'
import { useRoute, useWrite } from '../../../api/use-route.ts'
import { Button } from '../../../parts/button/button.tsx'
import { Empty } from '../../../parts/states/empty.tsx'
import { Failure } from '../../../parts/states/failure.tsx'
import { Skeleton } from '../../../parts/states/skeleton.tsx'
import { Table } from '../../../parts/table/table.tsx'
import { Ago } from '../../../parts/time/ago.tsx'
import { useRefusal } from '../../../shell/session.tsx'
import { Confirm } from '../confirm.tsx'
import { Lead } from '../lead.tsx'
import { SetSecret } from './set-secret.tsx'
import styles from '../settings.module.css'

/** The secrets of the project, by their names. */
export function Secrets() {
  const refusal = useRefusal('admin')
  const { data, error, refetch } = useRoute('GET /secrets', {}, { enabled: refusal === undefined })
  /** The name of the one that is set; empty for a new one. */
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
        Keys of model providers, tokens of hooks. They are encrypted in the store, outside of every
        repository, and no answer, log or clone has a value.
      </Lead>
      {error && <Failure error={error} retry={refetch} />}
      {!data && !error && refusal === undefined && <Skeleton label="Loading the secrets" />}
      {data?.count === 0 && (
        <Empty command={`${COMMAND} secrets set OPENAI_API_KEY`}>
          There is no secret yet. A prompt asks a model once its provider&rsquo;s key is here.
        </Empty>
      )}
      {data && data.count > 0 && (
        <Table
          caption="Secrets"
          rows={data.secrets}
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
      )}
      {setting !== undefined && (
        <SetSecret
          name={setting}
          before={data?.secrets.find(({ name }) => name === setting)}
          close={() => setSetting(undefined)}
        />
      )}
      {leaving !== undefined && (
        <Confirm
          title={`Remove ${leaving}?`}
          action={`Remove ${leaving}`}
          needs="admin"
          run={() => remove.mutateAsync({ path: { name: leaving } })}
          close={() => setLeaving(undefined)}
        >
          <p>What names it fails from its next run on. The value cannot be brought back.</p>
        </Confirm>
      )}
    </>
  )
}
