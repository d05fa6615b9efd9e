import { useRouteText } from '../../api/use-route.ts'
import { CodeLines } from '../../parts/code/code-lines.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'
import { prettyJson } from '../../parts/json-text/pretty-json.ts'
import styles from './revision.module.css'
import type { Revision } from './use-revision.ts'

/** What the interface answers of the revision, every number and the order of keys as they are stored. */
export function JsonText({ revision: { id } }: { readonly revision: Revision }) {
  const { data, error } = useRouteText('GET /workflows/revisions/{id}', { path: { id } })
  if (error) return <Failure error={error} />
  if (data === undefined) return <Skeleton label="Loading the JSON" />
  return (
    <div className={styles.content}>
      <p className={styles.muted}>
        <code>GET /workflows/revisions/{id}</code>
      </p>
      <CodeLines label="JSON" text={prettyJson(data)} />
    </div>
  )
}
