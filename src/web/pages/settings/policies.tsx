import { Link } from '@tanstack/react-router'
import { useRoute } from '../../api/use-route.ts'
import { Failure } from '../../parts/states/failure.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'
import { Table } from '../../parts/table/table.tsx'
import { places } from '../../shell/places.ts'
import { Lead } from './lead.tsx'
import styles from './settings.module.css'

/** What holds today in place of policies, which come later: guards of environments, and scopes. */
export function Policies() {
  const { data, error, refetch } = useRoute('POST /environments/query', {
    body: { windowing: { limit: 100, order: 'name' } },
  })
  return (
    <>
      <Lead>
        Policies (approvals and checks before a merge or a deployment) are not here yet. Until they are, a
        guard lets only keys with the scope deploy change an environment, and a key&rsquo;s scopes say what
        else it may.
      </Lead>
      {error && <Failure error={error} retry={refetch} />}
      {!data && !error && <Skeleton label="Loading the environments" lines={3} />}
      {data && (
        <Table
          caption="Guards of environments"
          rows={data.environments}
          keyOf={({ id }) => id}
          columns={[
            { name: 'Environment', cell: ({ slug }) => <Link to={places.environment(slug)}>{slug}</Link> },
            {
              name: 'Who may deploy',
              cell: ({ flags }) =>
                flags?.is_guarded === true ? (
                  <span className={styles.good}>guarded: only keys with the scope deploy</span>
                ) : (
                  'every key that may write or deploy'
                ),
            },
          ]}
        />
      )}
    </>
  )
}
